# A service that has ended is not known as who made a page dirty.
# in: had_gone()
# tests: processes.py what was made dirty
s/READ_ONCE(t->cgroup.last_id)/READ_ONCE(t->cgroup.id)/
