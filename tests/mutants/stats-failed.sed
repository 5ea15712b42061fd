# The errno of a read that failed is bytes.
# in: measure()
# tests: stats.bats worked out by hand
s/m->bytes && !to->error/m->bytes/
