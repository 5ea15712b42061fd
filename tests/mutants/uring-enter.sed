# Numbers that only calls have are shown for requests, too.
# file: tools/category_uring.c
# tests: columns.bats
s|return u->op == IOT_URING_ENTER;|return u->op != 999;|
