/* 0ede61d8589c ("file: convert to SLAB_TYPESAFE_BY_RCU"), 6.7 */
#include <linux/fs.h>
struct file *iot_test(struct file __rcu **f) { return get_file_rcu(f); }
