# Neighbours that are alike count as independent.
# in: series_of()
# tests: diff.bats waves
s/nr \* (1 - r) \/ (1 + r)/nr/
