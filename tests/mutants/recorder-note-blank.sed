# The words of a command line are not separated by blanks.
# in: add_note()
# tests: export.bats command lines
s#text\[i\] ? text\[i\] : ' '#text[i]#
