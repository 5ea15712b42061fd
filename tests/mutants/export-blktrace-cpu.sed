# All steps are in the file of the CPU of the submission.
# in: take()
# tests: export_formats.bats export blktrace: blkparse
s/b->time + b->latency, b->cpu)/b->time + b->latency, b->submit_cpu)/
