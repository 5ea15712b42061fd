# Requests that wait in the ring are not counted.
# in: begin_record()
# tests: fields.py requests and completions of io_uring
s/^\te->sq_depth = .*/\te->sq_depth = 0;/
