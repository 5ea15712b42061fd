# A fault leaves the terminal as it is.
# in: crashed()
# tests: top.bats fault
s/tcsetattr(STDIN_FILENO, TCSANOW, \&before);/;/
