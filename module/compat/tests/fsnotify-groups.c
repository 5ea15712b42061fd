/* CONFIG_FSNOTIFY: without it there are no groups */
#include <linux/fsnotify_backend.h>
#ifndef CONFIG_FSNOTIFY
#error no groups
#endif
