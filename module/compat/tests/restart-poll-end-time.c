/* restart_block: the end of a poll(2) is a timespec64, not two words (6.19) */
#include <linux/restart_block.h>
long long iot_test(const struct restart_block *b) { return b->poll.end_time.tv_sec; }
