# A block of a CPU that does not exist is recorded.
# in: is_sane()
# tests: export.bats record: blocks that do not fit
s#b->cpu < s->header.cpus \&\& ##
