# The worker that ran a request is not recorded.
# in: seen_worker()
# tests: fields.py requests and completions of io_uring
s/fl->like.worker = current->pid;/fl->like.worker = 0;/
