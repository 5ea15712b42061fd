# A read or write that failed has the range of what it moved.
# in: find_pieces()
# tests: guest_terms.bats an event has a row for each part
s|io->op <= IOT_OP_WRITE \&\& io->result >= 0|io->op <= IOT_OP_WRITE|
