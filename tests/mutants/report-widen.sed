# Ranges of positions that are put together lose the second one.
# in: widen()
# tests: report.bats by hand
s/at\[2 \* i\].bytes\[way\] + at\[2 \* i + 1\].bytes\[way\]/at[2 * i].bytes[way]/
