# Of two events that end at the same time the one of the higher CPU comes first.
# in: is_before()
# tests: export.bats events that end at once
s|x->end == y->end \&\& a < b|x->end == y->end \&\& a > b|
