# The busy subjects make room.
# in: keep()
# tests: findings.bats subjects beyond the limit
s/->events < least/->events >= least/
