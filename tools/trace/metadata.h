/* SPDX-License-Identifier: GPL-2.0 */
/*
 * metadata.json of a trace: what was recorded, where, when, and how it ended.
 *
 * Its first member is the CRC-32 of the whole file, computed with zeroes for the eight
 * digits of the sum itself.
 */
#ifndef TOOL_TRACE_METADATA_H
#define TOOL_TRACE_METADATA_H

#include <jansson.h>
#include <stdbool.h>

#include "base/wall.h"

/* Creates a document with host, kernel, versions and start time, in the state RUNNING. */
json_t *metadata_new(const char *host, struct wall_pair begin);

/* Sets both times and the state: COMPLETE, LOSSY or ERROR. @reason: of ERROR, else NULL. */
void metadata_end(json_t *document, struct wall_pair begin, struct wall_pair end,
		  const char *state, const char *reason);

/*
 * Writes the document, which replaces the previous version as a whole. Unless it is the @last
 * version, reserves disk space for the last one, which can then report that the disk was full.
 * Returns 0 or a negative errno.
 */
int metadata_write(int dir, const json_t *document, bool last);

/* Writes the copy of the schema beside it, and describes the copy in @document. */
int metadata_write_schema(int dir, json_t *document);

/* The metadata of a trace that is read. */
struct metadata {
	json_t *document;
	const char *state;	/* RUNNING, COMPLETE, LOSSY, ERROR */
	const char *reason;	/* reason of ERROR, or "" */
	bool anonymized;
	bool damaged;		/* the file is not as it was written, which was reported */
	struct wall_pair begin, end;	/* end is 0 while RUNNING */
};

/* The counts of a file, which are there when recording is over. */
struct metadata_file {
	__u64 frames, events, bytes, lost;	/* all but bytes: numbers of events, or of paths */
	__u64 missed;		/* calls missed by the kernel's hooks */
	__u64 first, behind;	/* paths: id of the first, and one more than the last */
	const json_t *cpus;	/* see metadata_cpu() */
};

/* Returns an exit code; errors are reported. */
int metadata_load(struct metadata *m, const char *directory);
void metadata_free(struct metadata *m);

/* The name of the @i-th category, NULL after the last. */
const char *metadata_category(const struct metadata *m, size_t i);

/* The counts of a category, and of paths. False if there are none, or the file is damaged. */
bool metadata_category_file(const struct metadata *m, size_t i, struct metadata_file *f);
bool metadata_paths_file(const struct metadata *m, struct metadata_file *f);

/* The @i-th CPU that had events: from @first to the one before @behind. False after the last. */
bool metadata_cpu(const struct metadata_file *f, size_t i, unsigned int *cpu, __u64 *first,
		  __u64 *behind);

/* Whether schema.json is as it was written; errors are reported. */
bool metadata_check_schema(const struct metadata *m, const char *directory);

#endif /* TOOL_TRACE_METADATA_H */
