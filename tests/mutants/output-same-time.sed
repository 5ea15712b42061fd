# Two files have the same name.
# in: name_file()
# tests: export.bats export -o --rotate: parts
s#	if (ms <= o->last)#	if (0)#
