# The words of a command line are not separated by blanks.
# file: tools/recorder.c
# tests: export.bats command lines
s#text\[i\] ? text\[i\] : ' '#text[i]#
