# A longer header is read as records.
# in: open_file()
# tests: tool.bats log: 
s#use(f, h->header_size);#use(f, sizeof(*h));#
