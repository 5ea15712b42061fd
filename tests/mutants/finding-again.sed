# All that was read counts as read again.
# in: again()
# tests: findings.bats least that was read again
s/r->bytes - extent : 0/r->bytes : 0/
