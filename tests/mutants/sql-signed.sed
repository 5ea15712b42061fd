# A negative number of 32 bits is a large one.
# in: row_integer()
# tests: sql.bats that export shows
s/c->size == 4 ? (__s32)value : (__s64)value/value/
