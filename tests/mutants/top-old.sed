# Events from before the start are shown.
# in: is_wanted()
# tests: top.bats grow
s/ >= l->begin \&\&/ >= l->sampled \&\&/
