# The mark that turns a line from right to left goes to the terminal.
# in: masked()
# tests: top.bats turn the line around
s/c\[2\] <= 0xae/c[2] <= 0xad/
