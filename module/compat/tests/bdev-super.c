/* struct block_device: bd_super, gone since 5aa9130acb22 ("fs, block: remove bdev->bd_super"), 6.6 */
#include <linux/blk_types.h>
const void *iot_test(const struct block_device *b) { return b->bd_super; }
