# What a deleted trace took is taken for that of the next one.
# in: segments_keep()
# tests: export.bats --keep is of the name
s/sum -= g->ended\[gone\].bytes;/sum -= g->ended[gone + 1].bytes;/
