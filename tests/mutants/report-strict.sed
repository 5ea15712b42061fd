# --strict does not look at losses.
# in: report_end()
# tests: export.bats record: what is lost
s#(s->options->strict \&\& (s->lossy || is_lossy(s)))#0#
