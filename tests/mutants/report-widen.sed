# Ranges of positions that are put together lose the second one.
# in: widen()
# tests: report.bats by hand
s/p\[2 \* i\].bytes\[way\] + p\[2 \* i + 1\].bytes\[way\]/p[2 * i].bytes[way]/
