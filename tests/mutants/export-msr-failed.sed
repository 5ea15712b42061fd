# Requests that failed are lines of msr.
# in: take()
# tests: export_formats.bats export msr: lines
s/if (b->result < 0 || !b->requested)/if (!b->requested)/
