# A call that failed has a command line.
# in: add_note()
# tests: export.bats command lines
s#if (result < 0 || #if (#
