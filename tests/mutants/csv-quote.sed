# A quote in a field is not doubled.
# in: put_safe()
# tests: export.bats CSV: order
s#		if (text\[i\] == '"')#		if (0)#
