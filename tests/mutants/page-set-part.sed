# Files share their blocks.
# in: page_set_add()
# tests: stats.bats working sets
s/(__u64)number << INDEX_BITS | //
