# Events that are missing at the end of a merged trace are not lost.
# in: put_missing()
# tests: traces_merge.bats events of a damaged frame
s#c->behind <= c->next#1#
