# A returned descriptor or address is bytes.
# in: measure()
# tests: stats.bats what moves bytes
s/is_in(m->ops, m->op, record)/1/
