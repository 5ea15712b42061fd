/* io_uring: IORING_REGISTER_RESIZE_RINGS puts other rings in the place of the old; 6.13 */
#include <linux/io_uring.h>
int iot_test(void) { return IORING_REGISTER_RESIZE_RINGS; }
