# Of two flags that share a place the one that was shown before is taken.
# file: tools/record.c
# tests: export.bats each of many names
s/f->group != group || f->value != value/f->group != group/
