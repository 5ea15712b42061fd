# A part of a frame that could not be written stays in the file.
# in: trace_file_put()
# tests: export.bats a full disk
# tests: export.bats a file that may not grow
s|ftruncate(f->fd, f->end)|0|
