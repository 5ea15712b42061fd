# The offset of a raw drive is not added.
# in: join_image_map()
# tests: join.bats part of a raw
s|guest + image->shift, e);|guest, e);|
