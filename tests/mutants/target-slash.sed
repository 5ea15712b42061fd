# Slashes behind a directory's name stay.
# in: target_spelled()
# tests: directory.bats slash
s#while (n > 1 \&\& spelled#while (0 \&\& spelled#
