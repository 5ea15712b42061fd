# A sample stays for ever where the screen alone costs more than a quarter of the limit.
# in: top_limit_sample()
# tests: top.bats in twice or half
s: || rate < TOP_LIMIT_RATE / 4::
