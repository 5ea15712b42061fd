# A trace recorded with --anonymize has the names of threads in plain text.
# in: hide_comm()
# tests: export.bats anonymize: 
s|	memcpy(comm, known->hidden, COMM_SIZE);||
