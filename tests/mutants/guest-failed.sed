# A read or write that failed has the range of what it moved.
# file: tools/log_machine.c
# tests: guest_terms.bats an event has a row for each part
s|io->op <= IOT_OP_WRITE \&\& io->result >= 0|io->op <= IOT_OP_WRITE|
