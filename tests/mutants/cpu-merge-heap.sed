# The heap is not put in order after a record was taken from it.
# in: step()
# tests: export.bats events of many CPUs
s|	if (m->nr_heap)$|	if (0)|
