# A name can be an element of a picture.
# in: put_escaped()
# tests: histogram.bats no name of a trace
s/"&lt;"/"<"/
