# A flush is recorded as a discard.
# in: find_op()
# tests: processes.py what a process submits
s/\[IOT_OP_FLUSH\] = IOT_FS_BLOCK_FLUSH/[IOT_OP_FLUSH] = IOT_FS_BLOCK_DISCARD/
