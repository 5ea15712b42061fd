# A trace recorded with --anonymize has the begin of each command line.
# in: add_note()
# tests: export.bats command lines
s#	memcpy(text, hidden, sizeof(hidden));##
