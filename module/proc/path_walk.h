/* SPDX-License-Identifier: GPL-2.0 */
/* Looking a path up name by name, each of which is watched from before. */
#ifndef IOT_PATH_WALK_H
#define IOT_PATH_WALK_H

#include <linux/path.h>
#include <linux/types.h>

struct cred;
struct iot_target_path;

/**
 * struct iot_path_walk_found - what a path leads to
 * @path:	the file, with a reference
 * @ino:	inode number as stat(2) gives it
 * @may:	current may read it
 */
struct iot_path_walk_found {
	struct path path;
	u64 ino;
	bool may;
};

bool iot_path_walk_is_rooted(void);
bool iot_path_walk_reads_all(const struct cred *cred);
int iot_path_walk(struct iot_target_path *tp, struct path *found);
int iot_path_walk_by_worker(struct iot_target_path *tp, struct iot_path_walk_found *found);

#endif /* IOT_PATH_WALK_H */
