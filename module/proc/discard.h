/* SPDX-License-Identifier: GPL-2.0 */
/* Directories of /proc/iotracer that are removed although tasks may be inside their files. */
#ifndef IOT_DISCARD_H
#define IOT_DISCARD_H

#include <linux/workqueue.h>
#include "proc/procfile.h"

/**
 * struct iot_discard - a directory that can be removed
 * @dir:	see there
 * @work:	removes it, if a task was in it for long
 * @release:	frees its owner, when the directory is gone; may sleep
 */
struct iot_discard {
	struct iot_procdir dir;
	struct work_struct work;
	void (*release)(struct iot_discard *d);
};

void iot_discard(struct iot_discard *d, void (*release)(struct iot_discard *d));

int iot_discard_init(void);
void iot_discard_exit(void);

#endif /* IOT_DISCARD_H */
