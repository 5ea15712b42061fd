# The metadata does not count the gaps of each CPU.
# in: count_blocks()
# tests: export.bats gaps are counted
# tests: export.bats record: what is lost
s|f->lost_by_cpu\[b.cpu\] += b.gap;||
