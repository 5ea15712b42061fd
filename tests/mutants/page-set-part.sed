# Places 2^50 bytes apart are one.
# in: page_set_add()
# tests: stats.bats working sets
s/part.number = range >> INDEX_BITS;/part.number = 0; break;/
