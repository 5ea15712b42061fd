# Flushes of any disk belong to an fsync.
# in: is_of_sync()
# tests: waits.bats belong
s/return row->device == r->disk_device/return row->device/
