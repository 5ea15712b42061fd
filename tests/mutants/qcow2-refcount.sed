# Counts of less than a byte fill it from its lowest bit on.
# file: tools/qcow2.c
# tests: vm_images.bats width
s|>> (bit % 8);|>> (8 - bits - bit % 8);|
