# Lost events are not counted.
# in: pass_reader_close()
# tests: stats.bats lost, missed
s/r->basis.lost = m->lost/r->basis.lost = 0/
