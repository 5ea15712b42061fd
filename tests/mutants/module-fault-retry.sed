# A fault begins with its last attempt.
# in: attempt_take()
# tests: fields.py page faults
s/f->start = a->start;/;/
