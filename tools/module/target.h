/* SPDX-License-Identifier: GPL-2.0 */
/* Which targets there are, which one a user means, and the counters of a target. */
#ifndef TOOL_MODULE_TARGET_H
#define TOOL_MODULE_TARGET_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

#include "base/cli.h"

struct target {
	char *name;		/* name of its directory: sda1_83420 */
	char **paths;		/* paths as added, absolute, unescaped */
	bool *deleted;		/* whether a path leads to no file now */
	size_t nr_paths;
	char *tasks;		/* NULL, or what names its processes: "pid=1234"; it has no paths then */
	bool network;		/* the log of these processes has the rows of their sockets */
	bool ended;		/* the process has exited, or there is no such control group now */
};

struct target_list {
	struct target *targets;
	size_t nr;
	char *text;		/* names and paths point into it */
	struct target_stats *stats;	/* kept by target_is_traced(); NULL: not read */
};

/* Returns 0 or a negative errno. Free the list in either case. */
int target_list_load(struct target_list *list);
void target_list_free(struct target_list *list);

/*
 * Finds the target that @file means: the listed text of processes, a listed path, the name of a
 * target or any other path of the same inode. Reports on stderr if there is none, or if another
 * file now has a listed path.
 */
const struct target *target_find(const struct target_list *list, const char *file);

/*
 * What @file stands for: itself, or, if neither such a file nor such a target is there, the path or
 * name that list shows as @file, with \ooo for some characters. The caller frees it.
 */
char *target_meant(const struct target_list *list, const char *file);

/*
 * A path, or what names processes, as list shows it: escaped, and so that its end is never taken
 * for the "(deleted)", "(network)" or "(ended)" that follows it. The caller frees it.
 */
char *target_show(const char *text);

/* The target of processes that is listed by @text, or NULL. */
const struct target *target_of_tasks(const struct target_list *list, const char *text);

/*
 * The target of a process, alone or with its descendants, or NULL. @ended: the process has ended; one
 * that runs may have its number.
 */
const struct target *target_of_process(const struct target_list *list, pid_t pid, bool ended);

/* The target whose file @path leads to now, or NULL. */
const struct target *target_at(const struct target_list *list, const char *path);

/* Whether there is such a target. The stats of all targets are read once, for many files. */
bool target_is_traced(struct target_list *list, const char *path);

/*
 * A path as the module takes it: without slashes at the end, unless it is no directory, and with
 * "./" before what names processes otherwise. The caller frees it.
 */
char *target_spelled(const char *file);

/* The path of the target that is equal to @file or to the absolute form of @file, or NULL. */
const char *target_path(const struct target *target, const char *file);

/* A row of the table in stats. */
struct target_count {
	char level[16];		/* vfs, blk, …, total */
	__u64 seen, stored, overwritten, lost, missed;
};

#define TARGET_COUNTS 16

struct target_file {
	unsigned int major, minor;	/* st_dev */
	__u64 inode;
	__u64 generation;		/* distinguishes files that use one inode number in turn */
};

#define TARGET_FILES 32

struct target_stats {
	struct target_file files[TARGET_FILES];	/* that its paths lead to; mostly one */
	size_t nr_files;
	__u64 max_events;
	__u64 memory;			/* bytes */
	int all_operations;		/* not only reads and writes are recorded */
	struct target_count counts[TARGET_COUNTS];
	size_t nr_counts;
};

int target_stats_load(const char *name, struct target_stats *stats);

/*
 * Whether the target keeps events of category fs for each CPU, as that of a directory or of
 * processes does; others keep events of io. False also if that cannot be found out.
 */
bool target_has_fs_events(const char *name);

/* The row "total", all zero if there is none. */
const struct target_count *target_stats_total(const struct target_stats *stats);

/* The line of a target's control file. */
struct target_state {
	int running;
	__u64 t0_sec;
	unsigned int t0_nsec;
	__u64 max_events;
	__u64 events;
};

int target_state_load(const char *name, struct target_state *state);

/*
 * Calls @act for each target that @files mean, and returns the merged exit code. @file is
 * what the user wrote, or the text by which the target is listed.
 */
int target_each(const struct cli_files *files,
		int (*act)(const struct target *target, const char *file, void *data),
		void *data);

/* What list and status say of processes behind their text: " (network)", " (ended)", both or "". */
const char *target_remarks(const struct target *target);

/* What list and status have in common: target, paths, deleted, tasks, network, ended. */
json_t *target_json(const struct target *target);

/* Loads the list, and finds the target that @file means. Returns an exit code. */
int target_one(struct target_list *list, const char *file,
	       const struct target **target);

#endif /* TOOL_MODULE_TARGET_H */
