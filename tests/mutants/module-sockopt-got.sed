# A GET that is refused returns no value.
# in: probe_exit()
# tests: sockopt.py calls that fail
s/else if (result >= 0)/else/
