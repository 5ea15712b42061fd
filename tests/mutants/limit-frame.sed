# A frame may exceed --size.
# file: tools/trace_write.c
# tests: export.bats record: --size
s|if (length > most)|if (length > most + 65536)|
