# The read that the kernel makes for sendfile(2) is counted beside the call.
# in: is_of_fs()
# tests: cache_sim.bats which calls
s/(flags & (served | IOT_IO_SPLICE)) == served/!served/
