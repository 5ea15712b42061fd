# Events that are missing before a block of a merged trace are not lost.
# in: count()
# tests: traces_merge.bats events of a damaged frame
s|b.gap += c->missing|b.gap += 0 * c->missing|
