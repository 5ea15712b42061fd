# A block of a CPU that there is not is believed.
# file: tools/merge.c
# tests: export.bats a block that does not fit
s/ || b.cpu >= m->nr_cpus//
