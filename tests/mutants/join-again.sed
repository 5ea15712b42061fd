# A call that io_uring repeats is one of its own.
# file: tools/join_load.c
# tests: join.bats asynchronous
s# || fs.result == EAGAIN_RESULT##
