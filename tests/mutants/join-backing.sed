# Reads are looked for in the top of a chain only.
# in: map_layers()
# tests: join.bats backing
s#layers = write ? 1 : image->chain.nr#layers = write ? 1 : 1#
