# A request that was made before the trace has a time.
# in: io_event_relate()
# tests: slowest.bats each way
s/request->flags & IOT_REQ_EARLY || //
