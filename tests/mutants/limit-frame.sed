# A frame may exceed --size.
# in: trace_file_put()
# tests: export.bats record: --size
s|if (length > most)|if (length > most + 65536)|
