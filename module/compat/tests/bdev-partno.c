/* 1116b9fa15c0 ("bdev: infrastructure for flags"), 6.10; bd_partno before */
#include <linux/blkdev.h>
u8 iot_test(const struct block_device *b) { return bdev_partno(b); }
