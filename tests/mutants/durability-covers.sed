# A direct write does not have what was written while it ran.
# in: remove_versions()
# tests: durability.bats direct
s/x->versions\[i\]\.last <= covers/i < nr/
