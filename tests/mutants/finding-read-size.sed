# A large read from memory counts as one that waits for the disk.
# in: add_read()
# tests: findings.bats reads that wait
s/READ_SLOW + m->bytes/READ_SLOW/
