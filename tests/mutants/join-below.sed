# Requests of the host that another thread made are not counted for a call.
# in: join_is_below()
# tests: join.bats each part
s/return b->tid == c->tid || has_bytes_of(c, b);/return 1;/
