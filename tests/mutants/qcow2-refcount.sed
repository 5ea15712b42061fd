# Counts of less than a byte fill it from its lowest bit on.
# in: is_counted()
# tests: vm_images.bats width
s|>> (bit % 8);|>> (8 - bits - bit % 8);|
