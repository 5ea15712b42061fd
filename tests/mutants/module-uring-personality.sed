# The credentials of a request are not recorded.
# in: record()
# tests: fields.py requests and completions of io_uring
s/^\te->personality = fl->personality;/\te->personality = 0;/
