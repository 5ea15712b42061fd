# A frame is not padded with zeros.
# in: trace_file_put()
# tests: export.bats anonymize: 
# tests: export.bats cut at any byte
s|memset(from + used, 0, length - used);|memset(from + used, 1, length - used);|
