// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "trace/gather.h"

#define CONTENT_MAX	(1024 * 1024)	/* bytes that are gathered, as the recorder does at most */
#define NOTES_MAX	(128 * 1024)	/* of them notes: a reader searches all of a frame's */

bool trace_gather_is_full(const struct trace_gather *g, size_t size)
{
	return g->frame.size && (g->frame.size + size > CONTENT_MAX || g->used_notes > NOTES_MAX);
}

static void append(char **to, size_t *used, size_t *room, const char *from, size_t size)
{
	if (*used + size > *room) {
		*room = 2 * (*used + size);
		*to = xreallocarray(*to, *room, 1);
	}
	memcpy(*to + *used, from, size);
	*used += size;
}

static void add_block(struct trace_gather *g, __u64 cpu, size_t at)
{
	if (g->nr == g->blocks_room) {
		g->blocks_room = 2 * g->blocks_room + 64;
		g->blocks = xreallocarray(g->blocks, g->blocks_room, sizeof(*g->blocks));
	}
	g->blocks[g->nr++] = (struct gathered_block){ .cpu = cpu, .at = at };
}

/* Lists the blocks of a frame. Returns their bytes; what follows are notes. */
static size_t list_blocks(struct trace_gather *g, const char *content, size_t size)
{
	struct iot_stream_block b;
	size_t at = 0;

	while (size - at >= sizeof(b)) {
		memcpy(&b, content + at, sizeof(b));
		if (b.magic != IOT_STREAM_BLOCK_MAGIC ||
		    b.count > (size - at - sizeof(b)) / g->record)
			break;
		add_block(g, b.cpu, g->used + at);
		at += sizeof(b) + b.count * g->record;
	}
	return at;
}

static bool are_notes(const char *at, size_t size)
{
	struct trace_note n;
	size_t length;

	while (size >= sizeof(n)) {
		memcpy(&n, at, sizeof(n));
		length = sizeof(n) + ((n.length + 7) & ~(size_t)7);
		if (n.magic != TRACE_NOTE_MAGIC || n.length > TRACE_NOTE_MAX || length > size)
			return false;
		at += length;
		size -= length;
	}
	return !size;
}

bool trace_gather_add(struct trace_gather *g, const struct trace_frame *frame,
		      const char *content)
{
	const size_t before = g->nr;
	size_t blocks = frame->size;

	if (frame->size > TRACE_FRAME_MAX - g->frame.size)
		return false;
	if (g->record) {
		blocks = list_blocks(g, content, frame->size);
		if (!are_notes(content + blocks, frame->size - blocks)) {
			g->nr = before;
			return false;
		}
	}
	if (!g->frame.size)
		g->frame.until = frame->until; /* of the first: what ended before is earlier */
	append(&g->content, &g->used, &g->room, content, blocks);
	append(&g->notes, &g->used_notes, &g->notes_room, content + blocks,
	       frame->size - blocks);
	g->frame.events += frame->events;
	g->frame.size += frame->size;
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct gathered_block *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Writes the blocks, each behind that which it continues. Returns the bytes. */
static size_t put_blocks(struct trace_gather *g, char *to)
{
	struct iot_stream_block b, whole = { .count = 0 };
	size_t at = 0, head = 0, bytes, i;

	qsort(g->blocks, g->nr, sizeof(*g->blocks), compare);
	for (i = 0; i < g->nr; i++) {
		const char *from = g->content + g->blocks[i].at;

		memcpy(&b, from, sizeof(b));
		if (i && b.cpu == whole.cpu && !b.gap && b.first == whole.first + whole.count) {
			whole.count += b.count;
		} else {
			whole = b;
			head = at;
			at += sizeof(b);
		}
		memcpy(to + head, &whole, sizeof(whole));
		bytes = b.count * g->record;
		memcpy(to + at, from + sizeof(b), bytes);
		at += bytes;
	}
	return at;
}

void trace_gather_take(struct trace_gather *g, char *to)
{
	char *content = to + sizeof(g->frame);
	size_t size = g->used;

	if (g->record)
		size = put_blocks(g, content);
	else if (size)
		memcpy(content, g->content, size);
	if (g->used_notes)
		memcpy(content + size, g->notes, g->used_notes);
	g->frame.size = size + g->used_notes;
	memcpy(to, &g->frame, sizeof(g->frame));
	g->frame = (struct trace_frame){ .size = 0 };
	g->used = 0;
	g->used_notes = 0;
	g->nr = 0;
}

void trace_gather_free(struct trace_gather *g)
{
	free(g->content);
	free(g->notes);
	free(g->blocks);
}
