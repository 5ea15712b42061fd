# A request of an earlier run of its target is recorded.
# in: record()
# tests: completions.py stopped, removed
s/READ_ONCE(f->t->run) != a->run/0/
