# Requests that wait in the ring are not counted.
# in: record()
# tests: fields.py requests and completions of io_uring
s/^\te->sq_depth = s->sq_depth;/\te->sq_depth = 0;/
