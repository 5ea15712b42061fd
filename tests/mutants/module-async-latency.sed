# The latency is that of the submission.
# file: module/probe/vfs_async.c
# tests: completions.py libaio: submission
s/^\tr->latency = latency;/\tr->latency = r->submission;/
