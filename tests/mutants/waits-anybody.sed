# Reads of a file that another process made belong to the calls.
# in: belongs()
# tests: waits.bats belong
s/r->op == IOT_BLOCK_READ \&\& io_event_owner(r) == row->pid/r->op == IOT_BLOCK_READ/
