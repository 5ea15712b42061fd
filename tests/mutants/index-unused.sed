# No frame is skipped.
# in: wants_frame()
# tests: frames.bats is not read
s|if (selection_may_want(&r->skips, index))|if (selection_may_want(\&r->skips, index) \|\| index)|
