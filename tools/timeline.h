/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Merges traces, of several hosts or of several times, into one.
 *
 * Times become nanoseconds since 1970: of each trace by its own two clocks, as metadata.json has
 * them, and by the offset that the user gave. Ids of paths and CPUs are moved, so that each trace
 * has a range of its own: a row's CPU tells of which trace it is, and no path is looked up.
 *
 * Frames are taken one at a time from the trace that is behind in time, and written again. The
 * reader merges the CPUs of the result as those of any trace, see trace.h on @until. So what is
 * in memory is a frame of each trace, whatever their sizes.
 *
 * The result is made under a name that begins with a dot, and is given its own name when it is
 * whole.
 */
#ifndef TOOL_TIMELINE_H
#define TOOL_TIMELINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "category.h"
#include "check.h"
#include "merge.h"
#include "writer.h"

struct timeline_offset {
	const char *trace;	/* as the user named it */
	__s64 ns;		/* is added to its times */
};

struct timeline_options {
	char **names;
	size_t nr;
	const char *directory;	/* of the result; NULL: a new one where traces are kept */
	struct timeline_offset *offsets;
	size_t nr_offsets;
	bool partial;		/* a trace that is not whole is no failure */
};

/* Returns an exit code; errors are reported. */
int timeline_make(const struct timeline_options *options);

/* One category of a trace that is merged. */
struct timeline_part {
	bool there;		/* the trace has it */
	size_t i;		/* its position in metadata.json */
	struct merge merge;
	struct check_file checked;
};

/* A trace that is merged. */
struct timeline_source {
	const char *name;	/* as the user named it */
	char *path;
	struct check check;
	__s64 offset;		/* ns */
	unsigned int first_cpu, cpus;	/* its CPUs, in the result */
	__u64 path_first, path_next;	/* its ids of paths: from the first to one before the next */
	__u64 path_base;		/* what the first one becomes */
	struct timeline_part *parts;	/* by position in categories[] */
	json_t *entry;		/* in the metadata of the result; NULL: it is a merged one itself */
};

struct timeline {
	const struct timeline_options *options;
	struct timeline_source *sources;
	size_t nr;
	json_t *list;		/* the sources, as the metadata has them */
	unsigned int cpus;	/* of all */
	__u64 begin, end;	/* ns since 1970 */
	char *directory, *hidden;	/* the path of the result, and that until it is whole */
	int parent;			/* the directory that it is in, -1 */
	int dir;
	bool failed;		/* a file could not be written, which was reported */
	char *content;		/* a frame */
	struct writer_file paths;
	json_t *categories;	/* as the metadata has them */
	__u64 events, lost, missed;
};

/* timeline_source.c: all traces that the options name. Both report errors. */
int timeline_open(struct timeline *t);
void timeline_close(struct timeline *t);

/* A time of a trace, as that of the result. */
__u64 timeline_time(const struct timeline_source *s, __u64 monotonic);

/*
 * timeline_move.c: makes the content of a frame one of the result. Returns its events, and sets
 * @end to the time when the last of them ended, if that is later.
 */
__u64 timeline_move(const struct timeline_source *s, const struct merge *m, char *content,
		    size_t blocks, size_t size, __u64 *end);

/* When the first event of the frame ended; ~0 if it has none. */
__u64 timeline_first(const struct timeline_source *s, const struct merge *m,
		     const struct merge_whole *w);

/*
 * timeline_paths.c: moves the ids of the paths in a frame, and notes them as those of the trace.
 * Returns the bytes that make sense, all unless the frame is damaged, and counts the paths.
 */
size_t timeline_move_paths(struct timeline_source *s, char *content, size_t size, __u64 *paths);

/* Writes the paths of all traces. */
int timeline_write_paths(struct timeline *t);

/*
 * timeline.c: a file of the result. timeline_put() writes the frame in t->content, of which size,
 * events and until are set. Each returns an exit code; errors are reported.
 */
int timeline_put(struct timeline *t, struct writer_file *f);
int timeline_fail(struct timeline *t, const char *file, int err);
int timeline_create(struct timeline *t, struct writer_file *f, const char *name,
		    const struct iot_schema_event *event);
int timeline_end_file(struct timeline *t, struct writer_file *f);
void timeline_free_file(struct writer_file *f);

/* timeline_report.c: the metadata of the result. */
void timeline_add_source(json_t *list, struct timeline_source *s);
const char *timeline_same(const json_t *list, const struct timeline_source *s);
void timeline_add_category(struct timeline *t, const struct category *category,
			   const struct writer_file *f);
int timeline_report(struct timeline *t);
bool timeline_is_whole(const struct timeline *t);

#endif /* TOOL_TIMELINE_H */
