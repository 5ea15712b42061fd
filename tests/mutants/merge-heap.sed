# The heap is not set right after a CPU has ended.
# file: tools/merge.c
# tests: export.bats events of many CPUs
s|	if (m->nr_heap)$|	if (0)|
