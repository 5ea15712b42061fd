# The latency is that of the submission.
# in: record()
# tests: completions.py libaio: submission
s/^\tr->latency = latency;/\tr->latency = r->submission;/
