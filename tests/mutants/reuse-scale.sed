# Figures of a sample are those of all blocks.
# in: scaled()
# tests: profile_trace.bats reuse: with little
s/n \/ rate + 0.5/n + 0 * rate/
