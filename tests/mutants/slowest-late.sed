# A call waits for a request that completes after it has returned.
# in: io_event_relate()
# tests: slowest.bats each way
s/ || request->end > call->end//
