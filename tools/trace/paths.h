/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The paths of a trace, by id, as they are shown. They are held in memory:
 * their text and 16 bytes each.
 */
#ifndef TOOL_TRACE_PATHS_H
#define TOOL_TRACE_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* Bytes of a path, or of a command line, that are kept. */
#define PATHS_BYTES 32768

/* Most ids that a trace may leave out between two paths. */
#define PATHS_GAP (1ULL << 24)

struct name {
	__u32 length;
	bool plain;		/* no character that CSV or JSON would quote */
	char text[];
};

struct paths {
	__u64 base;		/* id of at[0] */
	__u32 *at;		/* offset in arena, in units of 8 bytes; 0: none */
	size_t nr, room;
	char *arena;
	size_t used, size;
	__u64 lost;		/* ids that were left out when the trace was recorded */
	__u64 missing;		/* ids that are missing between two paths because of damage */
	bool damaged;		/* the file is damaged, which was reported */
};

struct anonymizer;
struct metadata_file;

/* Whether escaped text needs no quotes and no further escape. */
bool name_is_plain(const char *text, size_t length);

/*
 * Adds a path. Ids must rise; false for one that does not, if id or length are too large, or if there is
 * no memory.
 */
bool paths_add(struct paths *names, __u64 id, const char *bytes, size_t length);

/*
 * Loads the paths of a trace, hashed unless @anonymizer is NULL. @expected is their counts
 * in metadata.json, NULL if it has none. Returns an exit code; errors are reported.
 */
int paths_load(struct paths *names, const char *directory,
	       const struct metadata_file *expected, const struct anonymizer *anonymizer);
void paths_free(struct paths *names);

static inline const struct name *names_find(const struct paths *names, __u64 id)
{
	__u64 i = id - names->base;

	if (i >= names->nr || !names->at[i])
		return NULL;
	return (const struct name *)(names->arena + 8 * (size_t)names->at[i]);
}

#endif /* TOOL_TRACE_PATHS_H */
