# A request that its thread made before the call belongs to the call.
# in: io_event_relate()
# tests: slowest.bats each way
s/ && request->begin >= call->begin//
