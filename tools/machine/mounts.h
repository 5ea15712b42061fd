/* SPDX-License-Identifier: GPL-2.0 */
/* The mounts that this process sees, as /proc/self/mountinfo lists them. */
#ifndef TOOL_MACHINE_MOUNTS_H
#define TOOL_MACHINE_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* Texts are as the kernel knows them: not escaped. */
struct mount {
	__u64 id;		/* as statx(2) returns it */
	__u64 parent;
	unsigned int major, minor;	/* of the filesystem */
	char *root;		/* the directory of the filesystem that is mounted */
	char *point;		/* where */
	char *options, *type, *source, *super_options;
};

struct mounts {
	struct mount *at;
	size_t nr;
	char *text;		/* which holds the texts */
};

/* Returns 0 or a negative errno; free it in either case. */
int mounts_read(struct mounts *mounts);
void mounts_free(struct mounts *mounts);

/* NULL if there is none. */
const struct mount *mounts_find(const struct mounts *mounts, __u64 id);

/* Whether a path is @top or below it, by its text. */
bool mounts_is_below(const char *path, const char *top);

/*
 * Whether all that is below @m also is at another place below the directory @top, which is on
 * the mount @start.
 */
bool mounts_is_elsewhere(const struct mounts *mounts, const struct mount *m, const char *top,
			 __u64 start);

/* Whether a filesystem's content is made by the kernel; by statfs(2), or by its type. */
bool mounts_is_pseudo_magic(__u64 magic);
bool mounts_is_pseudo_type(const char *type);

#endif /* TOOL_MACHINE_MOUNTS_H */
