# The worker that ran a request is not recorded.
# in: record()
# tests: fields.py requests and completions of io_uring
s/^\te->worker = fl->worker;/\te->worker = 0;/
