# Gaps are not added up.
# in: merge.c
# tests: export.bats gaps are counted
s|m->lost += b.gap;||
