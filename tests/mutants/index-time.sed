# A frame's index says when its events ended only, not when they began.
# in: add_record()
# tests: frames.bats says what
# tests: frames.bats answers are the same
s|widen(&to->time, begin);|;|
