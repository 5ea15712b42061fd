/* 449813515d3e ("block, fs: Restore the per-bio/request data lifetime fields"), 6.9 */
#include <linux/blk_types.h>
int iot_test(struct bio *b) { return b->bi_write_hint; }
