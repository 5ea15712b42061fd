# Two files have the same name.
# file: tools/output.c
# tests: export.bats export -o --rotate: parts
s#	if (ms <= o->last)#	if (0)#
