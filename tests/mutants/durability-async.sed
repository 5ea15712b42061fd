# fsync does not wait for asynchronous direct writes.
# in: add_write()
# tests: durability.bats direct
s/fs->flags & IOT_IO_ASYNC/!fs->time/
