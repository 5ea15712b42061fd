# A trace recorded with --anonymize has the names of threads in plain text.
# file: tools/recorder.c
# tests: export.bats anonymize: 
s|	memcpy(comm, known->hidden, COMM_SIZE);||
