# Exported with --anonymize, a command line is in plain text.
# file: tools/record.c
# tests: export.bats command lines
s#	if (p->anonymizer) {#	if (0) {#
