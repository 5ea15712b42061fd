# Data with a flush after it lasts until the flush is done.
# in: take_request()
# tests: join.bats flushes
s/(b.flags \& (IOT_REQ_FLUSH_SEQ | IOT_REQ_PREFLUSH)) == IOT_REQ_FLUSH_SEQ/0/
