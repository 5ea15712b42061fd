# What a deleted trace took is taken for that of the next one.
# file: tools/segments.c
# tests: export.bats --keep is of the name
s/sum -= g->ended\[gone\].bytes;/sum -= g->ended[gone + 1].bytes;/
