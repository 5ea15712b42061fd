# The time of writeback is that of the kernel thread.
# in: take()
# tests: export_formats.bats export folded: lines
s/\*b->origin_comm ? b->origin_comm : b->comm/b->comm/
