# Writeback is of the thread that submits it.
# in: trace/finding_block.c
# tests: findings.bats disks: each rule
s/b->origin_pid ? b->origin_pid : b->pid/b->pid/
