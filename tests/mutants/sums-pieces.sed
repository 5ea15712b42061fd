# Data of the device mapper with a flush before it counts once.
# in: pieces()
# tests: receipt.bats device mapper
s/ + (b->flags \& IOT_REQ_PREFLUSH \&\& b->requested)//
