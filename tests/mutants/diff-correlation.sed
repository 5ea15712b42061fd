# Neighbours that are alike count as independent.
# in: series_of()
# tests: diff.bats waves
s/(1 - r) \/ (1 + r)/(1 - 0 * r)/
