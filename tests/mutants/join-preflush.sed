# Data between two flushes ends as long after its queue as the device had it.
# in: take_request()
# tests: join.bats flushes
s/(IOT_REQ_FLUSH_SEQ | IOT_REQ_PREFLUSH)/IOT_REQ_FLUSH_SEQ/
