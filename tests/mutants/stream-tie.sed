# Records of the same time are in no order.
# in: stream.c
# tests: tool.bats log: of records
s#y = u64_at(b, o->seq);#y = u64_at(a, o->seq);#
