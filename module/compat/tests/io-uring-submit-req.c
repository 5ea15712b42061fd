/* io_uring: tracepoint io_uring_submit_sqe became io_uring_submit_req, without a flag; between 6.1 and 6.12 */
#include <trace/events/io_uring.h>
void iot_test(void) { check_trace_callback_type_io_uring_submit_req(NULL); }
