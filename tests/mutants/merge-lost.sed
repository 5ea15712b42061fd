# Gaps are not added up.
# file: tools/merge.c
# tests: export.bats gaps are counted
s|m->lost += b.gap;||
