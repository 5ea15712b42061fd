/* SPDX-License-Identifier: GPL-2.0 */
/* The notes of a frame, by the record that each is about. */
#ifndef TOOL_TRACE_NOTES_H
#define TOOL_TRACE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct notes_entry {
	__u64 cpu, seq;		/* of the record */
	const char *text;
	size_t length;
};

/* Start from a zeroed struct. It can be filled again and again. */
struct notes {
	struct notes_entry *entries;	/* sorted */
	size_t nr, room;
};

/* Takes what follows the blocks of a frame, up to the first note that is damaged. Keeps pointers to @data. */
void notes_fill(struct notes *n, const char *data, size_t size);

/* The text of a record's note, the first of several; NULL if it has none. */
const char *notes_find(const struct notes *n, __u64 cpu, __u64 seq, size_t *length);
void notes_free(struct notes *n);

#endif /* TOOL_TRACE_NOTES_H */
