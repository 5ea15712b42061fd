# A condition on a device selects another minor number.
# in: parse_device()
# tests: sql.bats whoever checks
s/major << 20 | minor/major << 20 | (minor ^ 1)/
