# Notes behind a damaged one are shown.
# in: notes_fill()
# tests: export.bats notes of a frame
s/note.magic != TRACE_NOTE_MAGIC ||/false ||/
