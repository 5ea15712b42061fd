/* io_uring: IORING_REGISTER_RESIZE_RINGS replaces the rings; 6.13 */
#include <linux/io_uring.h>
int iot_test(void) { return IORING_REGISTER_RESIZE_RINGS; }
