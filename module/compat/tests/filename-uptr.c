/* struct filename: uptr, the user address that the name came from; gone in 7.x */
#include <linux/fs.h>
const void *iot_test(struct filename *n) { return n->uptr; }
