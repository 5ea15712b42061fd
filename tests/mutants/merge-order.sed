# Of two that end at once the later CPU goes first.
# file: tools/merge.c
# tests: export.bats events that end at once
s|x->end == y->end \&\& a < b|x->end == y->end \&\& a > b|
