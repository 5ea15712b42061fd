# The credentials of a request are not recorded.
# in: note_sqe()
# tests: fields.py requests and completions of io_uring
s/= READ_ONCE(sqe->personality);/= 0;/
