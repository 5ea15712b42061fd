# A hole is one event shorter.
# file: tools/merge.c
# tests: export.bats one event that is missing
s|next > c->next \&\& m->hole|next > c->next + 1 \&\& m->hole|
