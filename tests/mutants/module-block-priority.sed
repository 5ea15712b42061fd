# The I/O priority is not recorded.
# in: note_bio()
# tests: fields.py queued requests
/^\te->ioprio = bio->bi_ioprio;/d
