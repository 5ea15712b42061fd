# With --size a frame is as large as without it.
# in: recorder.c
# tests: export.bats record: --size
s#CHUNKS_A_LIMIT	32#CHUNKS_A_LIMIT	1#
