# A pipe is as wide as COLUMNS.
# in: terminal_columns()
# tests: histogram.bats width of a wide terminal
s/!isatty(STDOUT_FILENO)/0/
