/* fsnotify_find_mark() takes an object and its type, since 6.10; before, the place of its marks */
#include <linux/fsnotify_backend.h>
struct fsnotify_mark *iot_test(struct inode *i, struct fsnotify_group *g)
{
	return fsnotify_find_mark(i, FSNOTIFY_OBJ_TYPE_INODE, g);
}
