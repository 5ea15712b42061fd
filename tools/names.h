/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The paths of a trace, by number, as they are shown. They are held in memory:
 * their text and 16 bytes each.
 */
#ifndef TOOL_NAMES_H
#define TOOL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* Bytes of a path, or of a command line, that are kept. */
#define NAMES_BYTES 32768

struct name {
	__u32 length;
	bool plain;		/* no character that CSV or JSON would quote */
	char text[];
};

struct names {
	__u64 base;		/* number of at[0] */
	__u32 *at;		/* where in arena, in units of 8 bytes; 0: none */
	size_t nr, room;
	char *arena;
	size_t used, size;
	__u64 lost;		/* numbers that were left out when it was recorded */
	__u64 missing;		/* numbers between two paths, because the file is damaged */
	bool damaged;		/* the file is, which was said */
};

struct anonymizer;
struct metadata_file;

/* Whether shown text needs no quotes and no escape. */
bool name_is_plain(const char *text, size_t length);

/* Ids rise. False for one that does not, or is out of reason. */
bool names_add(struct names *names, __u64 id, const char *bytes, size_t length);

/*
 * The paths of a trace, hashed unless @anonymizer is NULL; @expected is what metadata.json
 * tells of them, NULL if it does not. An exit code; what is wrong was said.
 */
int names_load(struct names *names, const char *directory,
	       const struct metadata_file *expected, const struct anonymizer *anonymizer);
void names_free(struct names *names);

static inline const struct name *names_find(const struct names *names, __u64 id)
{
	__u64 i = id - names->base;

	if (i >= names->nr || !names->at[i])
		return NULL;
	return (const struct name *)(names->arena + 8 * (size_t)names->at[i]);
}

#endif /* TOOL_NAMES_H */
