# A frame that does not become smaller is stored compressed.
# file: tools/trace_write.c
# tests: export.bats record: 
s#ZSTD_isError(n) || n >= frame->size#ZSTD_isError(n)#
