# A value that is in both parts is taken late.
# in: next()
# tests: stats.bats more than 32 bits
s/(!word || d->wide.*)))$/!word)/
