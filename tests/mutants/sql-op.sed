# A condition on an operation selects the one before it.
# in: find_op()
# tests: sql.bats whoever checks
s/\*number = i;/*number = i - 1;/
