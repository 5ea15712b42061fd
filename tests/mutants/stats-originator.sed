# Writeback is charged to the kernel thread.
# in: originator_of()
# tests: stats.bats charged to its originator
s/return f ? \(.*\) : 0;/return f ? 0 * \1 : 0;/
