# The pipe of a target does not report what is gone.
# in: next_index()
# tests: pipe.py gone before they were read is reported: a slow
/^\t\tt->pipe_gap += from - t->pipe_next;/d
