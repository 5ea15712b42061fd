# Writeback names the number of the process that submits it.
# in: note_origin()
# tests: block.py block: writeback names the process
s/^\te->origin_pid = who.pid;/\te->origin_pid = current->tgid;/
