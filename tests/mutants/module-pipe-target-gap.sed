# The pipe of a target does not report what is gone.
# file: module/proc/target_pipe.c
# tests: pipe.py gone before they were read is reported: a slow
/^\t\tt->pipe_gap += from - t->pipe_next;/d
