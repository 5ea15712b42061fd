# An address of 0 is shown as 0, not as an empty field.
# in: put_address()
# tests: export.bats CSV: order of the ends
s|n ? put_hex(text, n) - text : 0|put_hex(text, n) - text|
