# A call that failed has a command line.
# file: tools/recorder.c
# tests: export.bats command lines
s#if (result < 0 || #if (#
