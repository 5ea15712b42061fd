# A block is not recognized by its magic number.
# in: is_sane()
# tests: export.bats record: blocks that do not fit
s#b->magic == IOT_STREAM_BLOCK_MAGIC#b->magic#
