# Of two values that share a slot of the cache, the one shown before is used for both.
# in: row_group()
# tests: export.bats each of many names
s/f->group != group || f->value != value/f->group != group/
