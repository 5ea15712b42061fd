# Gaps are not summed.
# file: tools/merge.c
# tests: export.bats gaps are counted
s|m->lost += b.gap;||
