# A command line is that of the process that now has the number.
# in: read_command()
# tests: export.bats command lines
s#^	    memcmp(name, comm, n - 1))#	    0)#
