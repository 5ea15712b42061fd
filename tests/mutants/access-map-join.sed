# Half of the columns of a map are missing where two are one.
# in: cell_of()
# tests: profile_trace.bats worked out by hand
s/count += /count = /
