# Events that cannot be read are not counted.
# in: timeline_end()
# tests: perfetto.bats what is missing
# tests: ctf.bats missing events
s/basis->unreadable = .*/basis->unreadable = 0;/
