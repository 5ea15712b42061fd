# Only the requests that are selected explain a call.
# in: pass_reader_open_whole()
# tests: slowest.bats not listed
s/r->whole = true/r->whole = false/
