# Exported with --anonymize, a command line is in plain text.
# in: row_note()
# tests: export.bats command lines
s#	if (p->anonymizer) {#	if (0) {#
