# A negative number of 32 bits is a large one.
# in: value_of()
# tests: perfetto.bats each row of CSV
s/(__u64)(__s64)(__s32)n : n/n : n/
