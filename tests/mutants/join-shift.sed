# The offset of a raw drive is not added.
# file: tools/join_image.c
# tests: join.bats part of a raw
s|guest + image->shift, e);|guest, e);|
