# A command line is that of the first event.
# in: add_note()
# tests: export.bats command lines
s#note.seq = record_seq(s->event, record);#note.seq = 0;#
