# A path of any length is accepted from the module.
# in: take_paths()
# tests: export.bats record: blocks that do not fit
s#		if (p.length > PATH_BYTES)#		if (0)#
