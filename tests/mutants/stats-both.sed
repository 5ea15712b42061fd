# A value that is in both parts is taken late.
# in: next()
# tests: stats.bats percentiles are the values
s/(!word || d->wide.*)))$/!word)/
