/* SPDX-License-Identifier: GPL-2.0 */
/* The paths under which targets are listed. */
#ifndef IOT_TARGET_PATH_H
#define IOT_TARGET_PATH_H

#include <linux/list.h>
#include <linux/rhashtable-types.h>
#include <linux/types.h>

struct cred;
struct inode;
struct iot_target;
struct iot_target_file;

/**
 * struct iot_target_path - one path under which a target was added
 * @list:	in the list of the target's paths, in the order in which they were added
 * @node:	in the index of all paths by their text
 * @t:		the target, NULL if it is in no list, or in one of copies
 * @file:	the target's file that the path leads to, or led to last; NULL if it leads to
 *		another file, which cannot be one of this target's
 * @follows:	the target goes on with the file that the path comes to lead to
 * @hooked:	has the hooks of names attached
 * @here:	the path leads to a file; always true unless @follows
 * @stale_node:	in the list of paths that a worker is to look up
 * @watches:	list of struct iot_watch: the names that the path is made of
 * @cred:	whose right to read a file counts, NULL unless @follows
 * @serial:	never used twice
 * @looks:	number of times that a worker has begun to look it up
 * @asked:	the change for which it was looked at last
 * @rooted:	a worker of the kernel that looks the path up finds the same
 * @astray:	a directory above has changed, and its watches may be those of another path
 * @stale:	a name that the path is made of has changed, and it was not looked up since
 *
 * All under the lock of targets.
 */
struct iot_target_path {
	struct list_head list;
	struct rhlist_head node;
	struct iot_target *t;
	struct iot_target_file *file;
	struct list_head stale_node;
	struct list_head watches;
	const struct cred *cred;
	unsigned long serial;
	unsigned long looks;
	u64 asked;
	bool follows;
	bool hooked;
	bool here;
	bool rooted;
	bool astray;
	bool stale;
	char path[];
};

struct iot_target_path *iot_target_path_new(const char *path);
void iot_target_path_free(struct iot_target_path *tp);
int iot_target_path_add(struct iot_target_path *tp, struct iot_target *t, struct list_head *paths,
			struct iot_target_file *f);
void iot_target_path_drop(struct iot_target_path *tp);
int iot_target_path_copy(struct list_head *paths, const char *path);

struct iot_target_path *iot_target_path_find(struct iot_target *t, const char *path);
struct iot_target_path *iot_target_path_by_serial(unsigned long serial);

int iot_target_path_init(void);
void iot_target_path_exit(void);

#endif /* IOT_TARGET_PATH_H */
