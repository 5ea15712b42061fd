# Records of the same time are in no order.
# in: stream.c
# tests: tool.bats log: of records
s#y = record_seq(event, b);#y = record_seq(event, a);#
