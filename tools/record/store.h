/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The store: the directory in which traces are kept.
 *
 * A recorder holds a lock (flock(2)) on the directory of its trace, which shows whether a trace
 * is being recorded or its recorder was killed. The kernel releases the lock when the recorder
 * ends.
 */
#ifndef TOOL_RECORD_STORE_H
#define TOOL_RECORD_STORE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The directory of the store: $IOTRACER_TRACES, or /var/lib/iotracer for root, or iotracer in
 * $XDG_DATA_HOME or ~/.local/share for other users. Allocated; NULL, which was reported, if none of
 * these variables is set.
 */
char *store_root(void);

/* Creates the directory, and those above it, as needed. Returns an exit code. */
int store_make_root(const char *root);

/*
 * A path for a new trace below store_root(): <date>-<time>, followed by _2 and so on if that exists
 * already. Allocated; NULL after an error, which was reported.
 */
char *store_new_path(void);

/*
 * The path of a trace: @name itself if it has a slash or is a directory here, else below
 * store_root(). Allocated; NULL, which was reported, if there is no such directory.
 */
char *store_find(const char *name);

/* The names of the traces in @root whose names begin with @prefix, in order. */
struct store_names {
	char **at;
	size_t nr;
};

int store_list(struct store_names *names, const char *root, const char *prefix);
void store_names_free(struct store_names *names);

/* The recorder's side of check_is_recorded(): holds the lock until @dir is closed. */
void store_lock(int dir);

/* Bytes that the files of a trace take on disk. */
unsigned long long store_bytes(const char *directory);

/*
 * Deletes the files of a trace, metadata.json last, and its directory. Files that no recorder made
 * stay, which is an error. Returns an exit code.
 */
int store_remove(const char *directory);

#endif /* TOOL_RECORD_STORE_H */
