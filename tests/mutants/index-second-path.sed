# A frame's index has the first path of its events only.
# in: trace/frame_index.c
# tests: frames.bats says what
s|{ "path2", PATH },||
