# A negative number of 64 bits is shown without its sign.
# file: tools/record.c
# tests: columns.bats
s#return put_s64(out, c->size == 4#return put_u64(out, c->size == 4#
