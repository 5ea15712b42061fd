# The first sequence number of a CPU is that after its gap.
# in: count_blocks()
# tests: export.bats gaps are counted
# tests: export.bats record: metadata
# tests: export.bats what is missing
s|b.first - b.gap, b.first|b.first, b.first|
