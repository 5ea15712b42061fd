# The credentials of a request are not recorded.
# file: module/probe/uring.c
# tests: fields.py requests and completions of io_uring
s/^\te->personality = fl->personality;/\te->personality = 0;/
