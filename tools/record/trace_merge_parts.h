/* SPDX-License-Identifier: GPL-2.0 */
/* Structures and functions that the files trace_merge*.c share. */
#ifndef TOOL_RECORD_TRACE_MERGE_PARTS_H
#define TOOL_RECORD_TRACE_MERGE_PARTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "record/writer.h"
#include "trace/category.h"
#include "trace/check.h"
#include "trace/cpu_merge.h"

struct trace_merge_offset {
	const char *trace;	/* as the user named it */
	__s64 ns;		/* added to its times */
};

struct trace_merge_options {
	char **names;
	size_t nr;
	const char *directory;	/* of the result; NULL: a new one in the store */
	struct trace_merge_offset *offsets;
	size_t nr_offsets;
	bool partial;		/* accept traces that are not whole */
};

/* One category of a trace that is merged. */
struct trace_merge_part {
	bool there;		/* the trace has it */
	size_t i;		/* its position in metadata.json */
	struct cpu_merge merge;
	struct check_file checked;
};

/* A trace that is merged. */
struct trace_merge_source {
	const char *name;	/* as the user named it */
	char *path;
	struct check check;
	__s64 offset;		/* ns */
	unsigned int first_cpu, cpus;	/* its CPUs, in the result */
	__u64 path_first, path_next;	/* its ids of paths: the first, and one after the last */
	__u64 path_base;		/* the first one's id in the result */
	struct trace_merge_part *parts;	/* by position in categories[] */
	json_t *entry;		/* in the metadata of the result; NULL: it is a merged trace */
};

struct trace_merge {
	const struct trace_merge_options *options;
	struct trace_merge_source *sources;
	size_t nr;
	json_t *list;		/* the sources, for the metadata */
	unsigned int cpus;	/* of all sources */
	__u64 begin, end;	/* ns since 1970 */
	char *directory, *hidden;	/* path of the result, and its path until it is whole */
	int parent;			/* directory of the result's directory, or -1 */
	int dir;
	bool failed;		/* a file could not be written, which was reported */
	char *content;		/* a frame */
	struct writer_file paths;
	json_t *categories;	/* for the metadata */
	__u64 events, lost, missed;
};

/* trace_merge_source.c: opens all traces that the options name. Errors are reported. */
int trace_merge_open(struct trace_merge *t);
void trace_merge_close(struct trace_merge *t);

/* Converts a time of a trace to that of the result. */
__u64 trace_merge_time(const struct trace_merge_source *s, __u64 monotonic);

/*
 * trace_merge_move.c: converts the content of a frame to that of the result. Returns the number of
 * events, and raises *@end to the time when the last of them ended.
 */
__u64 trace_merge_move(const struct trace_merge_source *s, const struct cpu_merge *m, char *content,
		       size_t blocks, size_t size, __u64 *end);

/* When the first event of the frame ended; ~0 if it has none. */
__u64 trace_merge_first(const struct trace_merge_source *s, const struct cpu_merge *m,
			const struct cpu_merge_whole *w);

/*
 * trace_merge_paths.c: shifts the ids of the paths in a frame, and extends the trace's range by
 * them. Returns the bytes that could be parsed, all unless the frame is damaged, and counts the
 * paths.
 */
size_t trace_merge_move_paths(struct trace_merge_source *s, char *content, size_t size, __u64 *paths);

/* Writes the paths of all traces. */
int trace_merge_write_paths(struct trace_merge *t);

/*
 * trace_merge_file.c: a file of the result. trace_merge_put() writes the frame in t->content, of which size,
 * events and until are set. Each returns an exit code; errors are reported.
 */
int trace_merge_put(struct trace_merge *t, struct writer_file *f);
int trace_merge_fail(struct trace_merge *t, const char *file, int err);
int trace_merge_create(struct trace_merge *t, struct writer_file *f, const char *name,
		       const struct iot_schema_event *event);
int trace_merge_end_file(struct trace_merge *t, struct writer_file *f);
void trace_merge_free_file(struct writer_file *f);

/* trace_merge_report.c: the metadata of the result. */
void trace_merge_add_source(json_t *list, struct trace_merge_source *s);
const char *trace_merge_same(const json_t *list, const struct trace_merge_source *s);
void trace_merge_add_category(struct trace_merge *t, const struct category *category,
			      const struct writer_file *f);
int trace_merge_report(struct trace_merge *t);
bool trace_merge_is_whole(const struct trace_merge *t);

#endif /* TOOL_RECORD_TRACE_MERGE_PARTS_H */
