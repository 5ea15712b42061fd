# Two requests of an owner have one share.
# in: charge()
# tests: blame.bats nanosecond
s/requests += inside->count\[inside->owners\[i\]\]/requests += inside->sum \/ inside->nr/
