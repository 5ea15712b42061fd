# A call that io_uring repeats is one of its own.
# in: take_call()
# tests: join.bats asynchronous
s# || fs.result == EAGAIN_RESULT##
