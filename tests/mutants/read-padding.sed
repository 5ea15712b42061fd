# What follows a frame is not checked.
# in: is_padded()
# tests: export.bats cut at any byte
s#		if (rest\[i\])#		if (0)#
