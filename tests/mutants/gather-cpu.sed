# Blocks that follow each other on different CPUs become one.
# in: put_blocks()
# tests: export.bats small frames become one
s#if (i \&\& b.cpu == whole.cpu \&\&#if (i \&\&#
