// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <linux/types.h>

#include "trace/trace.h"
#include "trace/transpose.h"

#define TILE 64		/* records that are in the processor's cache at a time */
#define DELTAS 2	/* words of a record that are replaced by differences */

/* A block's records, in one form or the other. */
typedef void (*rewrite_fn)(char *to, const char *from, size_t count, size_t record);

static __u64 word_at(const char *record, size_t i)
{
	__u64 word;

	memcpy(&word, record + i * sizeof(word), sizeof(word));
	return word;
}

static void put_word(char *record, size_t i, __u64 word)
{
	memcpy(record + i * sizeof(word), &word, sizeof(word));
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void forth(char *to, const char *from, size_t count, size_t record)
{
	__u64 heads[TILE][DELTAS], before[DELTAS] = { 0 };
	size_t first, i, j, nr;

	for (first = 0; first < count; first += nr) {
		const char *tile = from + first * record;

		nr = least(TILE, count - first);
		for (i = 0; i < nr; i++)
			for (j = 0; j < DELTAS; j++) {
				__u64 word = word_at(tile + i * record, j);

				heads[i][j] = word - before[j];
				before[j] = word;
			}
		for (j = 0; j < sizeof(heads[0]); j++)
			for (i = 0; i < nr; i++)
				to[j * count + first + i] = ((const char *)heads[i])[j];
		for (; j < record; j++)
			for (i = 0; i < nr; i++)
				to[j * count + first + i] = tile[i * record + j];
	}
}

static void back(char *to, const char *from, size_t count, size_t record)
{
	__u64 before[DELTAS] = { 0 };
	size_t first, i, j, nr;

	for (first = 0; first < count; first += nr) {
		char *tile = to + first * record;

		nr = least(TILE, count - first);
		for (j = 0; j < record; j++)
			for (i = 0; i < nr; i++)
				tile[i * record + j] = from[j * count + first + i];
		for (i = 0; i < nr; i++)
			for (j = 0; j < DELTAS; j++) {
				before[j] += word_at(tile + i * record, j);
				put_word(tile + i * record, j, before[j]);
			}
	}
}

/* The length of the block's head or of the note at @at, 0 if there is neither. */
static size_t length_of_head(const char *at, size_t left, size_t *records)
{
	struct iot_stream_block block;
	struct trace_note note;

	*records = 0;
	if (left >= sizeof(block)) {
		memcpy(&block, at, sizeof(block));
		if (block.magic == IOT_STREAM_BLOCK_MAGIC) {
			*records = block.count;
			return sizeof(block);
		}
	}
	if (left < sizeof(note))
		return 0;
	memcpy(&note, at, sizeof(note));
	return note.magic == TRACE_NOTE_MAGIC && note.length <= TRACE_NOTE_MAX ?
	       sizeof(note) + (note.length + 7) / 8 * 8 : 0;
}

static bool rewrite(char *to, const char *from, size_t size, size_t record, rewrite_fn records)
{
	size_t at = 0, head, count;

	if (record % sizeof(__u64) || record < DELTAS * sizeof(__u64))
		return false;
	while (at < size) {
		head = length_of_head(from + at, size - at, &count);
		if (!head || head > size - at || count > (size - at - head) / record)
			return false;
		memcpy(to + at, from + at, head);
		at += head;
		records(to + at, from + at, count, record);
		at += count * record;
	}
	return true;
}

bool trace_transpose(char *to, const char *from, size_t size, size_t record)
{
	return rewrite(to, from, size, record, forth);
}

bool trace_transpose_back(char *to, const char *from, size_t size, size_t record)
{
	return rewrite(to, from, size, record, back);
}
