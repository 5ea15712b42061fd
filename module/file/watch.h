/* SPDX-License-Identifier: GPL-2.0 */
/* Names in directories that come to stand for something else. */
#ifndef IOT_WATCH_H
#define IOT_WATCH_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable-types.h>
#include <linux/types.h>

struct inode;
struct iot_watch_dir;
struct qstr;

/**
 * struct iot_watch - interest in a name in a directory
 * @same:	in the list of the watches of the same name
 * @list:	for its owner
 * @dead:	in the list of those to be freed
 * @dir:	the directory, which it keeps in memory
 * @name:	the name; shared once the watch has begun
 * @owner:	for its owner
 * @last:	for its owner
 */
struct iot_watch {
	struct list_head same;
	struct list_head list;
	struct llist_node dead;
	struct iot_watch_dir *dir;
	struct iot_watch_name *name;
	void *owner;
	bool last;
};

/* What has happened to a name. */
enum iot_watch_change {
	IOT_WATCH_DELETED,
	IOT_WATCH_MOVED,	/* away; it may have been exchanged for another */
	IOT_WATCH_MADE,		/* created, linked, or moved to here */
};

/**
 * struct iot_watch_ops - what is called when something has changed
 * @changed:	a watched name in @dir. If it was made, it stands for @inode now, which is NULL if
 *		that is not known. Context: the task that made the change, which holds the lock
 *		of the directory and keeps all marks of the system from being freed: it may sleep,
 *		but must wait for no server. It has not used what it made yet
 * @unmounted:	the filesystem of a watched directory is being unmounted. Context: may not wait
 */
struct iot_watch_ops {
	void (*changed)(struct iot_watch_dir *dir, const struct qstr *name,
			enum iot_watch_change change, struct inode *inode);
	void (*unmounted)(void);
};

bool iot_watch_possible(void);
struct iot_watch *iot_watch_new(struct inode *dir, const char *name, unsigned int len);
int iot_watch_begin(struct iot_watch *w);
void iot_watch_end(struct iot_watch *w);
void iot_watch_free(struct iot_watch *w);
bool iot_watch_each(struct iot_watch_dir *dir, const struct qstr *name,
		    bool (*fn)(struct iot_watch *w, void *data), void *data);

int iot_watch_init(const struct iot_watch_ops *ops);
void iot_watch_exit(void);

#endif /* IOT_WATCH_H */
