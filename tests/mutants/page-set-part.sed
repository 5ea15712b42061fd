# Files share their blocks.
# in: page_set_add()
# tests: stats.bats working sets
s/number << INDEX_BITS |/(number & 0) << INDEX_BITS |/
