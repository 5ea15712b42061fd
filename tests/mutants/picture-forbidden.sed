# U+FFFF gets into XML.
# in: is_forbidden()
# tests: histogram.bats no name of a trace
s/length == 3 \&\&/length == 4 \&\&/
