# The metadata has the frames before they became one.
# file: tools/session.c
# tests: export.bats small frames become one
s#f->file.frames = frames;#(void)frames;#
