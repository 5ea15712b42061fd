# fdatasync does not write what a rename changed.
# in: sync_file()
# tests: durability.bats names
s/ && fs->op != IOT_FS_FDATASYNC//
