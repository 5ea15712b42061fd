# 0 is shown where nothing is.
# file: tools/record.c
# tests: export.bats CSV: order of the ends
s|n ? put_hex(text, n) - text : 0|put_hex(text, n) - text|
