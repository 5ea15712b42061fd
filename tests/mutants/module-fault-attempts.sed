# Only the last attempt counts.
# in: attempt_take()
# tests: fields.py page faults
s/f->attempts = a->attempts + 1;/f->attempts = 1;/
