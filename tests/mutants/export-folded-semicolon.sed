# A semicolon in a name ends its frame.
# in: put_frame()
# tests: export_formats.bats export folded: lines
s/text\[i\] == ';' || //
