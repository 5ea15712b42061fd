/* SPDX-License-Identifier: GPL-2.0 */
/* metadata.json of a trace: what was recorded, where, when, and how it ended. */
#ifndef TOOL_METADATA_H
#define TOOL_METADATA_H

#include <jansson.h>
#include <stdbool.h>

#include "wall.h"

/* A document with what does not change: host, kernel, versions, begin, state RUNNING. */
json_t *metadata_new(const char *host, struct wall_pair begin);

/* Both times and the state: COMPLETE, or ERROR where there is a @reason. */
void metadata_end(json_t *document, struct wall_pair begin, struct wall_pair end,
		  const char *reason);

/*
 * Writing it. Room for the last version is taken at the beginning, so that it can
 * be told that the disk was full. Each version replaces the one before as a whole.
 * 0 or a negative errno.
 */
int metadata_reserve(int dir);
int metadata_write(int dir, const json_t *document, bool last);

/* The copy of the schema beside it. */
int metadata_write_schema(int dir);

/* Of a trace that is read. */
struct metadata {
	json_t *document;
	const char *state;	/* RUNNING, COMPLETE, ERROR */
	const char *reason;	/* of ERROR, or "" */
	bool anonymized;
	struct wall_pair begin, end;	/* end is 0 while RUNNING */
};

/* An exit code; what is wrong was said. */
int metadata_load(struct metadata *m, const char *directory);
void metadata_free(struct metadata *m);

/* Its categories one after another, NULL behind the last. */
const char *metadata_category(const struct metadata *m, size_t i);

#endif /* TOOL_METADATA_H */
