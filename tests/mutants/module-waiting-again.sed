# A poll(2) that is made again is not found.
# in: resolve_restart()
# tests: waiting.py a stopped thread
s/w->poll = block;/w->number = -1;/
