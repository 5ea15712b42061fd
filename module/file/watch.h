/* SPDX-License-Identifier: GPL-2.0 */
/* Names in directories that come to stand for something else. */
#ifndef IOT_WATCH_H
#define IOT_WATCH_H

#include <linux/list.h>
#include <linux/types.h>

struct inode;
struct iot_watch_name;
struct qstr;

/**
 * struct iot_watch - interest in a name in a directory
 * @same:	in the list of the watches of the same name
 * @list:	for its owner
 * @name:	the directory and the name; shared once the watch has begun
 * @owner:	for its owner
 * @last:	for its owner
 */
struct iot_watch {
	struct list_head same;
	struct list_head list;
	struct iot_watch_name *name;
	void *owner;
	bool last;
};

struct iot_watch *iot_watch_new(struct inode *dir, const char *name, unsigned int len);
int iot_watch_begin(struct iot_watch *w, struct inode *dir);
void iot_watch_end(struct iot_watch *w);
void iot_watch_free(struct iot_watch *w);
bool iot_watch_each(struct inode *dir, const struct qstr *name,
		    bool (*fn)(struct iot_watch *w, void *data), void *data);

bool iot_watch_has(struct inode *dir, const struct qstr *name);

int iot_watch_init(void);
void iot_watch_exit(void);

#endif /* IOT_WATCH_H */
