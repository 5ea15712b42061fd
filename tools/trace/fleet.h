/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A tree of files with the events of many traces. Databases read it as tables: the names of its
 * directories are values of columns (Hive's layout).
 *
 *	category=fs/host=web1/date=2026-11-21/<trace>.csv.zst	events that began on that day, UTC
 *	trace/<trace>.csv.zst					rows of the table _trace
 *
 * <trace> identifies the trace: the time at which it began, and a checksum of its host and clocks.
 *
 * Files are written under hidden names. fleet_publish() renames them when all are complete, that of
 * _trace last, so a trace with rows there is complete. All directories belong to the user who
 * writes.
 */
#ifndef TOOL_TRACE_FLEET_H
#define TOOL_TRACE_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "base/wall.h"

#define FLEET_CATEGORY "category="	/* a directory's name begins with it */
#define FLEET_TRACE "trace"
#define FLEET_SUFFIX ".csv.zst"
#define FLEET_NS_PER_DAY (86400 * 1000000000ULL)

struct fleet_file;

/* The files of one trace. */
struct fleet {
	const char *directory, *trace;	/* the tree, and the trace as messages name it */
	char *id;			/* <trace> */
	/* Private: */
	int top, traces;		/* descriptors of the tree, and of its directory of _trace */
	char *host;			/* name of a directory */
	struct fleet_file **files;
	size_t nr, of_table;		/* all; where those of the present table begin */
	__u64 turn;
};

/*
 * Opens the tree. Makes it if only its last name is missing. Refuses a trace that the tree has.
 * @host is escaped (text.h). Returns an exit code; errors are reported. Close it in any case.
 */
int fleet_open(struct fleet *f, const char *directory, const char *trace, const char *host,
	       const struct wall_pair *begin);

/* Closes all files: those of another table follow. False after an error, which was reported. */
bool fleet_begin(struct fleet *f);

/*
 * Opens the file of a table for one day, counted from 1970; of _trace if @category is NULL. It is
 * valid until the next call. Sets *is_new if it is empty. NULL after an error, which was reported.
 */
struct fleet_file *fleet_file(struct fleet *f, const char *category, __u64 day, bool *is_new);

/* Room for ROW_MAX bytes; fleet_put() takes their end. False if they could not be written. */
char *fleet_room(struct fleet_file *file);
bool fleet_put(struct fleet *f, struct fleet_file *file, const char *end);

/* Gives all files their names. False after an error, which was reported. */
bool fleet_publish(struct fleet *f);

/* Deletes what has no name yet. */
void fleet_close(struct fleet *f);

#endif /* TOOL_TRACE_FLEET_H */
