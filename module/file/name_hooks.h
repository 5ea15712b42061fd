/* SPDX-License-Identifier: GPL-2.0 */
/* The hooks of the functions that change what a name stands for. */
#ifndef IOT_NAME_HOOKS_H
#define IOT_NAME_HOOKS_H

#include <linux/types.h>

struct inode;
struct qstr;

/* What has happened to a name. */
enum iot_name_change {
	IOT_NAME_DELETED,
	IOT_NAME_MOVED,		/* away; it may have been exchanged for another */
	IOT_NAME_MADE,		/* created, linked, or moved to here */
	IOT_NAME_OPENED,	/* as IOT_NAME_MADE, but may have gone again meanwhile */
};

/**
 * struct iot_name_ops - what is called when something has changed
 * @changed:	a watched name in @dir. If it was made, it stands for @inode now, which is NULL if
 *		it is known to be no file. Context: the task that made the change, which has not
 *		used what it made yet. It holds the lock of the directory, except after
 *		IOT_NAME_OPENED. May sleep, but must wait for no server
 * @unsure:	a watched name may have changed, it is not known which. Context: may not sleep
 */
struct iot_name_ops {
	void (*changed)(struct inode *dir, const struct qstr *name, enum iot_name_change change,
			struct inode *inode);
	void (*unsure)(void);
};

int iot_name_hooks_get(void);
void iot_name_hooks_put(void);
void iot_name_hooks_set_gone(bool gone);
void iot_name_hooks_init(const struct iot_name_ops *ops);

#endif /* IOT_NAME_HOOKS_H */
