/* trace_io_uring_queue_async_work(): bool hashed instead of int rw */
#include <linux/fs.h>
#include <trace/events/io_uring.h>
static void probe(void *data, struct io_kiocb *req, bool hashed) { }
void iot_test(void) { check_trace_callback_type_io_uring_queue_async_work(probe); }
