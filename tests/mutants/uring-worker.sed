# A request without a worker has thread 0.
# file: tools/category_uring.c
# tests: columns.bats
s|return put_if(p, u->worker, out, u->worker);|return put_if(p, true, out, u->worker);|
