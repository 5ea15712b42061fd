# The index of the buffer is not recorded.
# in: note_sqe()
# tests: fields.py requests and completions of io_uring
s/= READ_ONCE(sqe->buf_index);/= 0;/
