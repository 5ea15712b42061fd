# A trace that lost paths only is COMPLETE.
# in: state_of()
# tests: export.bats record: what is lost
s# || s->recorder.paths.file.lost ? "LOSSY"# ? "LOSSY"#
