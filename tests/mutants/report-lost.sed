# Lost events are not told by time.
# in: read_over_time()
# tests: report.bats missing
s/reader.merge.lost - lost/0 * lost/
