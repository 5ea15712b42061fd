/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Byte strings as numbers: the first string is 0, each new one is the next number. They stay in memory,
 * with 20 bytes each beside their own.
 *
 * A traced program chooses its names. So the hash begins with a random number, and nobody can choose
 * names that all have the same hash.
 */
#ifndef TOOL_TRACE_INTERN_H
#define TOOL_TRACE_INTERN_H

#include <stddef.h>
#include <linux/types.h>

struct intern_entry {
	size_t at;		/* of its bytes, in the arena */
	__u32 length;
	__u32 hash;
};

/* Start from a zeroed struct. */
struct intern {
	struct intern_entry *entries;
	size_t nr, room;
	__u32 *slots;		/* numbers + 1, by hash; 0: free */
	size_t nr_slots;	/* a power of two */
	char *arena;
	size_t used, size;
	__u64 seed;
};

/* The number of a string, which is t->nr - 1 if it is new. */
__u32 intern_add(struct intern *t, const void *bytes, size_t length);

/* The number of a string, INTERN_NONE if it has not been added. */
#define INTERN_NONE (~0U)
__u32 intern_find(const struct intern *t, const void *bytes, size_t length);
void intern_free(struct intern *t);

static inline const char *intern_bytes(const struct intern *t, __u32 number, size_t *length)
{
	*length = t->entries[number].length;
	return t->arena + t->entries[number].at;
}

#endif /* TOOL_TRACE_INTERN_H */
