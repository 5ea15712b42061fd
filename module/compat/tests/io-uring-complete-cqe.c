/* trace_io_uring_complete(): a cqe instead of its fields; 6.12 or later */
#include <linux/fs.h>
#include <trace/events/io_uring.h>
static void probe(void *data, struct io_ring_ctx *ctx, void *req, struct io_uring_cqe *cqe) { }
void iot_test(void) { check_trace_callback_type_io_uring_complete(probe); }
