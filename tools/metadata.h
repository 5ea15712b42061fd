/* SPDX-License-Identifier: GPL-2.0 */
/*
 * metadata.json of a trace: what was recorded, where, when, and how it ended.
 *
 * Its first member is the CRC-32 of the whole file, taken with the eight digits of the sum
 * itself as zeroes.
 */
#ifndef TOOL_METADATA_H
#define TOOL_METADATA_H

#include <jansson.h>
#include <stdbool.h>

#include "wall.h"

/* A document with what does not change: host, kernel, versions, begin, state RUNNING. */
json_t *metadata_new(const char *host, struct wall_pair begin);

/* Both times and the state: COMPLETE, LOSSY, ERROR; @reason: of ERROR, else NULL. */
void metadata_end(json_t *document, struct wall_pair begin, struct wall_pair end,
		  const char *state, const char *reason);

/*
 * Writing it. Behind each version but the @last room for the last one is taken, so that it
 * can be told that the disk was full. Each version replaces the one before as a whole.
 * 0 or a negative errno.
 */
int metadata_write(int dir, const json_t *document, bool last);

/* The copy of the schema beside it, told in @document. */
int metadata_write_schema(int dir, json_t *document);

/* Of a trace that is read. */
struct metadata {
	json_t *document;
	const char *state;	/* RUNNING, COMPLETE, LOSSY, ERROR */
	const char *reason;	/* of ERROR, or "" */
	bool anonymized;
	bool damaged;		/* it is not as it was written, which was said */
	struct wall_pair begin, end;	/* end is 0 while RUNNING */
};

/* What it tells of a file when recording is over. */
struct metadata_file {
	__u64 frames, events, bytes, lost;	/* events, or paths */
	__u64 missed;		/* by the kernel's hooks */
	__u64 first, behind;	/* paths: number of the first, and one more than the last */
	const json_t *cpus;	/* see metadata_cpu() */
};

/* An exit code; what is wrong was said. */
int metadata_load(struct metadata *m, const char *directory);
void metadata_free(struct metadata *m);

/* Its categories one after another, NULL behind the last. */
const char *metadata_category(const struct metadata *m, size_t i);

/* Of a category, and of paths. False when it does not tell, or is not to be believed. */
bool metadata_category_file(const struct metadata *m, size_t i, struct metadata_file *f);
bool metadata_paths_file(const struct metadata *m, struct metadata_file *f);

/* The @i-th CPU that had events, and which. False behind the last. */
bool metadata_cpu(const struct metadata_file *f, size_t i, unsigned int *cpu, __u64 *first,
		  __u64 *behind);

/* Whether schema.json is as it was written; what is wrong was said. */
bool metadata_check_schema(const struct metadata *m, const char *directory);

#endif /* TOOL_METADATA_H */
