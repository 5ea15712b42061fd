// SPDX-License-Identifier: GPL-2.0
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "trace/intern.h"

#define SLOTS_LEAST	1024
#define NUMBERS_MOST	0xfffffffeU	/* a slot holds a number and 1 more */

/* Both halves of a product of 128 bits: each bit of either factor changes many of the result. */
static __u64 fold(__u64 a, __u64 b)
{
	__uint128_t product = (__uint128_t)a * b;

	return (__u64)product ^ (__u64)(product >> 64);
}

static __u32 hash_of(const struct intern *t, const char *at, size_t length)
{
	__u64 hash = t->seed ^ length, word;

	for (; length >= sizeof(word); length -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = fold(hash ^ word, 0x9e3779b97f4a7c15ULL ^ t->seed);
	}
	word = 0;
	memcpy(&word, at, length);
	return fold(hash ^ word, 0x9e3779b97f4a7c15ULL ^ t->seed);
}

static void begin(struct intern *t)
{
	if (getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK) != sizeof(t->seed))
		t->seed = (uintptr_t)t;	/* early at boot: at least the address is random */
	t->nr_slots = SLOTS_LEAST;
	t->slots = xreallocarray(NULL, t->nr_slots, sizeof(*t->slots));
	memset(t->slots, 0, t->nr_slots * sizeof(*t->slots));
}

/* Half full at most, so that a search ends soon. */
static void grow(struct intern *t)
{
	size_t i, slot;

	t->nr_slots *= 2;
	free(t->slots);
	t->slots = xreallocarray(NULL, t->nr_slots, sizeof(*t->slots));
	memset(t->slots, 0, t->nr_slots * sizeof(*t->slots));
	for (i = 0; i < t->nr; i++) {
		slot = t->entries[i].hash & (t->nr_slots - 1);
		while (t->slots[slot])
			slot = (slot + 1) & (t->nr_slots - 1);
		t->slots[slot] = i + 1;
	}
}

static void append(struct intern *t, const char *bytes, size_t length, __u32 hash)
{
	if (t->nr == NUMBERS_MOST) {
		cli_say("there are more than %u different names", NUMBERS_MOST);
		exit(CLI_FAILED);
	}
	if (t->nr == t->room) {
		t->room = 2 * t->room + 64;
		t->entries = xreallocarray(t->entries, t->room, sizeof(*t->entries));
	}
	if (t->size - t->used < length) {
		t->size = 2 * t->size + length + 4096;
		t->arena = xreallocarray(t->arena, t->size, 1);
	}
	t->entries[t->nr++] = (struct intern_entry){ .at = t->used, .length = length, .hash = hash };
	memcpy(t->arena + t->used, bytes, length);
	t->used += length;
}

/* The slot that has the string, or the free one where it would be. */
static size_t slot_of(const struct intern *t, const void *bytes, size_t length, __u32 hash)
{
	size_t slot = hash & (t->nr_slots - 1);
	__u32 number;

	for (; (number = t->slots[slot]); slot = (slot + 1) & (t->nr_slots - 1)) {
		const struct intern_entry *e = &t->entries[number - 1];

		if (e->hash == hash && e->length == length && !memcmp(t->arena + e->at, bytes, length))
			break;
	}
	return slot;
}

__u32 intern_add(struct intern *t, const void *bytes, size_t length)
{
	__u32 hash;
	size_t slot;

	if (!t->slots)
		begin(t);
	hash = hash_of(t, bytes, length);
	slot = slot_of(t, bytes, length, hash);
	if (t->slots[slot])
		return t->slots[slot] - 1;
	append(t, bytes, length, hash);
	t->slots[slot] = t->nr;
	if (t->nr > t->nr_slots / 2)
		grow(t);
	return t->nr - 1;
}

__u32 intern_find(const struct intern *t, const void *bytes, size_t length)
{
	size_t slot;

	if (!t->slots)
		return INTERN_NONE;
	slot = slot_of(t, bytes, length, hash_of(t, bytes, length));
	return t->slots[slot] ? t->slots[slot] - 1 : INTERN_NONE;
}

void intern_free(struct intern *t)
{
	free(t->entries);
	free(t->slots);
	free(t->arena);
	*t = (struct intern){ .nr = 0 };
}
