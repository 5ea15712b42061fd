/* struct buffer_head: b_end_io, gone in 7.x, where bh_submit() takes a bio_end_io_t */
#include <linux/buffer_head.h>
const void *iot_test(struct buffer_head *bh) { return bh->b_end_io; }
