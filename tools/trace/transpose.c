// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <linux/types.h>

#include "trace/trace.h"
#include "trace/transpose.h"

#define TILE 256	/* records that are in the processor's cache at a time */
#define GROUP 16	/* records whose bytes change places at once, 8 of each */
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

typedef __u8 bytes __attribute__((vector_size(16)));

/*
 * One step of a transposition of 128 bytes. Number them with 7 bits, 3 for the vector and 4 for the place
 * in it: the step rotates the bits of each byte's number to the left by one.
 */
static inline void interleave(bytes v[8])
{
	bytes w[8];
	int i;

	for (i = 0; i < 4; i++) {
		w[2 * i] = __builtin_shufflevector(v[i], v[i + 4], 0, 16, 1, 17, 2, 18, 3, 19, 4,
						   20, 5, 21, 6, 22, 7, 23);
		w[2 * i + 1] = __builtin_shufflevector(v[i], v[i + 4], 8, 24, 9, 25, 10, 26, 11, 27,
						       12, 28, 13, 29, 14, 30, 15, 31);
	}
	memcpy(v, w, sizeof(w));
}

/* 8 bytes of each of 16 records, which are @record bytes apart, become 8 rows, @count bytes apart. */
static void group_forth(char *to, size_t count, const char *from, size_t record)
{
	bytes v[8];
	int i;

	for (i = 0; i < GROUP; i++)
		memcpy((char *)v + 8 * i, from + i * record, 8);
	for (i = 0; i < 4; i++)
		interleave(v);
	for (i = 0; i < 8; i++)
		memcpy(to + i * count, &v[i], sizeof(v[i]));
}

static void group_back(char *to, size_t record, const char *from, size_t count)
{
	bytes v[8];
	int i;

	for (i = 0; i < 8; i++)
		memcpy(&v[i], from + i * count, sizeof(v[i]));
	for (i = 0; i < 3; i++)
		interleave(v);
	for (i = 0; i < GROUP; i++)
		memcpy(to + i * record, (char *)v + 8 * i, 8);
}

/* 8 bytes of each of @nr records; those that are no group of 16 one by one. */
static void columns_forth(char *to, size_t count, const char *from, size_t record, size_t nr)
{
	size_t i, j;

	for (i = 0; i + GROUP <= nr; i += GROUP)
		group_forth(to + i, count, from + i * record, record);
	for (; i < nr; i++)
		for (j = 0; j < 8; j++)
			to[j * count + i] = from[i * record + j];
}

static void columns_back(char *to, size_t record, const char *from, size_t count, size_t nr)
{
	size_t i, j;

	for (i = 0; i + GROUP <= nr; i += GROUP)
		group_back(to + i * record, record, from + i, count);
	for (; i < nr; i++)
		for (j = 0; j < 8; j++)
			to[i * record + j] = from[j * count + i];
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
		for (j = 0; j < sizeof(heads[0]); j += 8)
			columns_forth(to + j * count + first, count, (const char *)heads + j,
				      sizeof(heads[0]), nr);
		for (; j < record; j += 8)
			columns_forth(to + j * count + first, count, tile + j, record, nr);
	}
}

static void back(char *to, const char *from, size_t count, size_t record)
{
	__u64 before[DELTAS] = { 0 };
	size_t first, i, j, nr;

	for (first = 0; first < count; first += nr) {
		char *tile = to + first * record;

		nr = least(TILE, count - first);
		for (j = 0; j < record; j += 8)
			columns_back(tile + j, record, from + j * count + first, count, nr);
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
