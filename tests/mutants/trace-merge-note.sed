# A command line of a merged trace stays with the CPU of its own trace.
# in: move_notes()
# tests: traces_merge.bats command lines stay
s|n.cpu += s->first_cpu|n.cpu += 0 * s->first_cpu|
