# A name with a quote is written as it is.
# in: csv_put()
# tests: export.bats CSV: order
s# || memchr(text, '"', length)##
