# A file of more CPUs than there can be is read.
# in: check_stream()
# tests: export.bats another file in place
s#				   h->cpus > like->cpus))#				   0))#
