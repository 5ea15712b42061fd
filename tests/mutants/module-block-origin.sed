# Writeback names the number of the process that submits it.
# file: module/probe/block.c
# tests: block.py block: writeback names the process
s/^\te->origin_pid = who.pid;/\te->origin_pid = current->tgid;/
