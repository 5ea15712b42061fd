# A block of a CPU that does not exist is accepted.
# in: measure_blocks()
# tests: export.bats a block that does not fit
s/ || b.cpu >= m->nr_cpus//
