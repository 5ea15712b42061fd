# Two files have the same name.
# file: tools/output.c
# tests: export.bats export -o --rotate
s#	if (ms <= o->last)#	if (0)#
