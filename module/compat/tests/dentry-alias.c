/* struct dentry: d_alias in an unnamed union, no d_u; 7.x */
#include <linux/dcache.h>
const void *iot_test(struct dentry *d) { return &d->d_alias; }
