# A call waits for a request that completes after it has returned.
# in: io_event_relate()
# tests: path.bats for whom
s/ || request->end > call->end//
