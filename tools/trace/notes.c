// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/notes.h"
#include "trace/trace.h"

#define FIRST_ROOM 64

/* Where the texts are in the frame decides between notes of one record. */
static int compare(const void *left, const void *right)
{
	const struct notes_entry *a = left, *b = right;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	if (a->seq != b->seq)
		return a->seq < b->seq ? -1 : 1;
	return (a->text > b->text) - (a->text < b->text);
}

/* False if there is no memory. */
static bool add(struct notes *n, const struct notes_entry *entry)
{
	size_t room = n->room ? 2 * n->room : FIRST_ROOM;

	if (n->nr == n->room) {
		if (!xgrow(&n->entries, room, sizeof(*n->entries)))
			return false;
		n->room = room;
	}
	n->entries[n->nr++] = *entry;
	return true;
}

void notes_fill(struct notes *n, const char *data, size_t size)
{
	struct trace_note note;
	size_t at = 0;

	n->nr = 0;
	while (at <= size && size - at >= sizeof(note)) {
		struct notes_entry entry;

		memcpy(&note, data + at, sizeof(note));
		at += sizeof(note);
		if (note.magic != TRACE_NOTE_MAGIC || note.length > TRACE_NOTE_MAX ||
		    note.length > size - at)
			break;
		entry = (struct notes_entry){ note.cpu, note.seq, data + at, note.length };
		if (!add(n, &entry))
			break;
		at += (note.length + 7) & ~(size_t)7;
	}
	if (n->nr)
		qsort(n->entries, n->nr, sizeof(*n->entries), compare);
}

const char *notes_find(const struct notes *n, __u64 cpu, __u64 seq, size_t *length)
{
	/* NULL is before each text: the first entry that is not before this one is the first of the record. */
	const struct notes_entry wanted = { cpu, seq, NULL, 0 };
	size_t low = 0, high = n->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare(&n->entries[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == n->nr || n->entries[low].cpu != cpu || n->entries[low].seq != seq)
		return NULL;
	*length = n->entries[low].length;
	return n->entries[low].text;
}

void notes_free(struct notes *n)
{
	free(n->entries);
	*n = (struct notes){ .nr = 0 };
}
