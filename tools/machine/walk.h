/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks a directory tree, each inode once, in memory that does not grow with the number of its
 * files: a buffer for each open level, and the inodes of hardlinks.h.
 *
 * Everything is opened relative to its directory and without following a link, so a process that
 * changes the tree cannot lead the walk out of it. Directories on other filesystems are not
 * touched unless @cross is set, because a server that does not answer would stop the walk.
 */
#ifndef TOOL_MACHINE_WALK_H
#define TOOL_MACHINE_WALK_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "machine/mounts.h"
#include "trace/hardlinks.h"

#define WALK_PATH_MAX	4096		/* bytes of a path; files with longer paths are left out */
#define WALK_LEVELS	(WALK_PATH_MAX / 2)

struct walk_entry {
	const char *name;
	size_t length;
	unsigned int level;	/* 0: the root, whose name is its path */
	const struct statx *stat;
	unsigned int major, minor;	/* of its filesystem's superblock */
	__s64 extents;		/* -1: not counted */
};

struct walk {
	/* set before */
	unsigned int depth;	/* levels below the root */
	bool cross;		/* enter other filesystems */
	bool extents;		/* count them; opens each file */
	bool (*entry)(void *data, const struct walk_entry *e);	/* false ends the walk */
	void *data;

	char *root;		/* the path of the root, once it is open */
	const char *type;	/* and the type of its filesystem, "" if it is not known */

	/* what was left out */
	__u64 vanished;		/* since their names were read */
	__u64 links;		/* further names of an inode */
	__u64 mounts;		/* directories and files that belong to another mount, */
	__u64 pseudo;		/* or to a pseudo filesystem */
	__u64 errors;
	char *first_error;	/* "PATH: reason", escaped */

	struct mounts table;
	struct hardlinks seen;
	__u64 root_mount;
	struct walk_level *levels;
	size_t nr_levels;
	char *path;		/* of the directory that is being read */
	size_t length;
	struct statx stat;
	bool ended;
};

/* False if the root cannot be walked, which was reported. */
bool walk_open(struct walk *w, const char *root);

/* False if @entry ended the walk. */
bool walk_run(struct walk *w);
void walk_close(struct walk *w);

#endif /* TOOL_MACHINE_WALK_H */
