/* 0718afd47f70 ("block: introduce holder ops"), 6.5 */
#include <linux/blk_types.h>
const void *iot_test(const struct block_device *b) { return b->bd_holder_ops; }
