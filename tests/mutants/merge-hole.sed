# A hole of a single event is not reported.
# file: tools/merge.c
# tests: export.bats one event that is missing
s|next > c->next \&\& m->hole|next > c->next + 1 \&\& m->hole|
