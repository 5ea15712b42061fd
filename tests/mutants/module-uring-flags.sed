# The flags of the operation are not recorded.
# file: module/probe/uring.c
# tests: fields.py requests and completions of io_uring
s/^\te->op_flags = fl->op_flags;/\te->op_flags = 0;/
