/* SPDX-License-Identifier: GPL-2.0 */
/* The mounts that this process sees, as /proc/self/mountinfo lists them. */
#ifndef TOOL_MACHINE_MOUNTS_H
#define TOOL_MACHINE_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* Texts are not escaped. */
struct mount {
	__u64 id;		/* as statx(2) returns it */
	__u64 parent;
	unsigned int major, minor;	/* of the filesystem */
	char *root;		/* the mounted directory of the filesystem */
	char *point;		/* where it is mounted */
	char *options, *type, *source, *super_options;
};

struct mounts {
	struct mount *at;
	size_t nr;
	char *text;		/* contains the texts */
};

/* Returns 0 or a negative errno; free it in either case. */
int mounts_read(struct mounts *mounts);
void mounts_free(struct mounts *mounts);

/* The mount with this id, or NULL. */
const struct mount *mounts_find(const struct mounts *mounts, __u64 id);

/* Whether a path is @top or below it, by its text. */
bool mounts_is_below(const char *path, const char *top);

/*
 * Whether a walk of the directory @top, which is on mount @start, finds all files of @m at another
 * place, too.
 */
bool mounts_is_elsewhere(const struct mounts *mounts, const struct mount *m, const char *top,
			 __u64 start);

/* Whether the kernel generates a filesystem's files: by its magic in statfs(2), or its type. */
bool mounts_is_pseudo_magic(__u64 magic);
bool mounts_is_pseudo_type(const char *type);

#endif /* TOOL_MACHINE_MOUNTS_H */
