# A path that was forgotten is shown as empty.
# file: tools/record.c
# tests: export.bats CSV: order
s#return put_word(p, out, "?");#return put_word(p, out, "");#
