# A request without a worker shows thread 0 as its worker.
# file: tools/category_uring.c
# tests: columns.bats
s|return put_if(p, u->worker, out, u->worker);|return put_if(p, true, out, u->worker);|
