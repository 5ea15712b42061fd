# A command line of a merged trace stays with the CPU of its own trace.
# file: tools/timeline_move.c
# tests: traces_merge.bats command lines stay
s|n.cpu += s->first_cpu|n.cpu += 0 * s->first_cpu|
