# The flags of the operation are not recorded.
# in: record()
# tests: fields.py requests and completions of io_uring
s/^\te->op_flags = fl->op_flags;/\te->op_flags = 0;/
