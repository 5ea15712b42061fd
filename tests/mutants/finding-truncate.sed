# What was cut off counts as written again.
# in: begin_again()
# tests: findings.bats files: each rule
s/= (struct range){ .again = again(r) }/= *r/
