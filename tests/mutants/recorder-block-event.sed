# A block of another event is recorded.
# in: is_sane()
# tests: export.bats record: blocks that do not fit
s# \&\& b->event == s->event->id \&\&# \&\&#
