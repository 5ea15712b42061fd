# Latencies of many rows are packed too late.
# in: put_packed()
# tests: report.bats coarse
s/> SPREAD_PACKED/> 2 * SPREAD_PACKED/
