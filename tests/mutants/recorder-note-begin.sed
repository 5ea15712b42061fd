# A command line is that of a process whose name begins with that of the record.
# in: read_command()
# tests: export.bats record: command lines
s#(size_t)n - 1 != strnlen(comm, COMM_SIZE)#(size_t)n - 1 < strnlen(comm, COMM_SIZE)#; s#memcmp(name, comm, n - 1))#memcmp(name, comm, strnlen(comm, COMM_SIZE)))#
