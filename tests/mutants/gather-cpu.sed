# Blocks that follow each other on different CPUs become one.
# file: tools/trace_gather.c
# tests: export.bats small frames become one
s#if (i \&\& b.cpu == whole.cpu \&\&#if (i \&\&#
