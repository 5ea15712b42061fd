# The I/O priority is not recorded.
# file: module/probe/block.c
# tests: fields.py queued requests
/^\te->ioprio = bio->bi_ioprio;/d
