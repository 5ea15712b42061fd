# A pipe has offsets.
# in: is_access()
# tests: histogram.bats which value
s/ && is_in(POSITIONS, v->kind, record)//
