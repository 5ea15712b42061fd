# The index of the buffer is not recorded.
# in: record()
# tests: fields.py requests and completions of io_uring
s/^\te->buf_index = fl->buf_index;/\te->buf_index = 0;/
