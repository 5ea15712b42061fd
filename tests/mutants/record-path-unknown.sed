# A path that was forgotten is shown as empty.
# in: put_path()
# tests: export.bats CSV: order
s#return put_word(p, out, "?");#return put_word(p, out, "");#
