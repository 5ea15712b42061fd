/* io_uring: struct io_uring_task is in io_uring_types.h; not in all of 6.1 */
#include <linux/io_uring_types.h>
#include <linux/sched.h>
struct file *iot_test(void) { return current->io_uring->registered_rings[0]; }
