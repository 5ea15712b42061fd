# What was lost before a frame that is skipped is not counted.
# in: skip()
# tests: frames.bats losses before a frame
s|m->lost += frame->index.lost;|;|
