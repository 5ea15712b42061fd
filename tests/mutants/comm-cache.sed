# Of two names the one that was shown before is taken.
# file: tools/record.c
# tests: export.bats each of many names
s/ || comm->key\[0\] != key\[0\] || comm->key\[1\] != key\[1\])/)/
