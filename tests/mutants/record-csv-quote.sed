# A quote in a field is not doubled.
# file: tools/record.c
# tests: export.bats CSV: order
s#		if (text\[i\] == '\"')#		if (0)#
