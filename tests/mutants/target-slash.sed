# Slashes behind a directory's name stay.
# file: tools/target.c
# tests: directory.bats slash
s#while (n > 1 \&\& spelled#while (0 \&\& spelled#
