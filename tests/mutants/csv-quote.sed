# A quote in a field is not doubled.
# file: tools/csv.c
# tests: export.bats CSV: order
s#		if (text\[i\] == '"')#		if (0)#
