/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What rows of statistics are by: the key of a record, as text.
 *
 * A request that writes back pages is charged to its originator: keys process and command are those of
 * origin_pid and origin_comm if the record has an origin_pid. Key submitter is the thread that submitted it.
 */
#ifndef TOOL_TRACE_STATS_KEY_H
#define TOOL_TRACE_STATS_KEY_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/row.h"

struct source;
struct stats_key_kind;

#define STATS_KEYS 3		/* most keys of a row */
#define STATS_KEY_WORDS "op class device file directory extension process command submitter cgroup connection host trace"
#define STATS_KEY_MAX (256 * 1024)	/* bytes of a key's text; that of a path is escaped */

/* Start from a zeroed struct. */
struct stats_keys {
	struct stats_key {
		const struct stats_key_kind *kind;
		unsigned int depth;	/* of directory: components; 0: all */
		/* of the present event */
		const struct iot_schema_field *field;
	} at[STATS_KEYS];
	size_t nr;
	bool merged;			/* the trace has sources; set by the caller */
	const struct source *source;	/* that of the record, or NULL; set by the caller */
	struct row_printer printer;
	const struct iot_schema_field *comm;
	const struct iot_schema_field *origin_pid, *origin_comm;	/* NULL: events have no originator */
	/* Of key connection: NULL if events have no such field. */
	const struct iot_schema_field *family, *protocol, *cookie, *ip[2], *port[2];
};

/*
 * Adds a key, "op" or "directory:2". Returns NULL, or why it is none, which the caller frees.
 */
char *stats_keys_add(struct stats_keys *keys, const char *word);

const char *stats_key_name(const struct stats_key *key);

bool stats_key_is_process(const struct stats_key *key);

/* Whether the rows of a process also have its command, which is no key. */
bool stats_keys_have_command(const struct stats_keys *keys);

/*
 * Prepares for the records of an event. Returns NULL, or the name of a key that they do not have.
 * Close it if it returned NULL.
 */
const char *stats_keys_open(struct stats_keys *keys, const struct iot_schema_event *event,
			    const struct paths *paths);
void stats_keys_close(struct stats_keys *keys);

/*
 * If a record's key depends on nothing but its path: the id of that. Else 0, also if it has none.
 */
__u64 stats_keys_path(const struct stats_keys *keys, const void *record);

/*
 * Writes the texts of all keys, escaped as by text_show(), each with a NUL behind it. Returns the end.
 * @out has STATS_KEYS * STATS_KEY_MAX bytes.
 */
char *stats_keys_put(struct stats_keys *keys, char *out, const void *record);

/* Writes the command of the record, with a NUL: STATS_COMM bytes at most. */
#define STATS_COMM 72
void stats_keys_command(const struct stats_keys *keys, char *out, const void *record);

#endif /* TOOL_TRACE_STATS_KEY_H */
