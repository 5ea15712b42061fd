# A direct write does not have what was written while it ran.
# in: remove_versions()
# tests: durability.bats direct
s/\.last <= covers/.last <= (covers | ~0ULL)/
