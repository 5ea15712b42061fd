# Compressed data ends with its last sector, not a whole number of them after it began.
# in: decode_compressed()
# tests: vm_images.bats converted
s|(sectors + 1) \* 512 - piece->host % 512|sectors * 512|
