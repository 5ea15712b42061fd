# A trace recorded with --anonymize has the begin of each command line.
# file: tools/recorder.c
# tests: export.bats command lines
s#	memcpy(text, hidden, sizeof(hidden));##
