# The flags of the operation are not recorded.
# in: note_sqe()
# tests: fields.py requests and completions of io_uring
s/= (__force u32)READ_ONCE(sqe->rw_flags);/= 0;/
