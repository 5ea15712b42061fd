# --strict does not look at losses.
# file: tools/report.c
# tests: export.bats record: what is lost
s#(s->options->strict \&\& (s->lossy || is_lossy(s)))#0#
