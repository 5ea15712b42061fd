# The log of a target is in the order in which calls ended.
# in: began_after()
# tests: completions.py log: a request is where it began
s/return r\[a\].time > r\[b\].time;/return 0 \&\& r[a].time > r[b].time;/
