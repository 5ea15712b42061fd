# A request is in the device from its beginning on.
# in: add_device()
# tests: stats.bats device time
s/end - time, end,/m->time, end,/
