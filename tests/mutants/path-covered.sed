# Every later request to the range of a write has its bytes.
# in: writes_later()
# tests: path.bats later
s/return spans_length(&s->written) >/return spans_length(\&s->written) >=/
