# A trace that lost paths only is COMPLETE.
# file: tools/report.c
# tests: export.bats record: what is lost
s# || s->recorder.paths.file.lost ? "LOSSY"# ? "LOSSY"#
