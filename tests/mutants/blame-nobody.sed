# A moment without a request in the device is charged to nobody, and not counted.
# in: charge()
# tests: blame.bats by hand
s/victims\[victim\].nobody += wait/victims[victim].nobody += 0/
