# Reads are looked for in the top of a chain only.
# file: tools/join_image.c
# tests: join.bats backing
s#layers = write ? 1 : image->chain.nr#layers = write ? 1 : 1#
