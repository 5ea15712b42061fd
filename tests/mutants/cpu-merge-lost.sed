# Gaps are not added up.
# in: cpu_merge.c
# tests: export.bats gaps are counted
s|m->lost += b.gap;||
