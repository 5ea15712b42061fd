# A hole of a single event is not reported.
# in: tell_hole()
# tests: export.bats one event that is missing
s|next > c->next \&\& m->hole|next > c->next + 1 \&\& m->hole|
