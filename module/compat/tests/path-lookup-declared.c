/* vfs_path_lookup() is declared in namei.h; in 6.1 in fs/internal.h, though it is exported */
#include <linux/namei.h>
void *iot_test(void) { return vfs_path_lookup; }
