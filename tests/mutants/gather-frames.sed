# The metadata has the frames before they became one.
# in: compress()
# tests: export.bats small frames become one
s#f->file.frames = frames;#(void)frames;#
