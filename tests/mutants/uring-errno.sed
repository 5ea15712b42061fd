# The number of an error is shown with its sign.
# file: tools/category_uring.c
# tests: columns.bats
s|out, -u->result)|out, u->result)|
