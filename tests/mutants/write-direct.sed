# Direct I/O that a filesystem refuses is an error.
# file: tools/trace_write.c
# tests: export.bats record: 
s# || (errno == EINVAL \&\& use_cache(fd))##
