// SPDX-License-Identifier: GPL-2.0
/*
 * A record consists of state, index, token (its writer, and its number among the
 * writer's records), words computed from the token, and a checksum of all these. It is
 * filled by plain stores, as in the kernel, with a call of the shims' hook before each.
 */
#include <linux/compiler.h>
#include <string.h>
#include "ledger.h"
#include "unit.h"

#define MAX_WORDS 32

static u64 mix(u64 x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

static u64 word_of(const struct ledger *ledger, u64 k, u64 index, u64 token)
{
	u64 sum = 0;
	u64 i;

	if (k == 1)
		return index;
	if (k == 2)
		return token;
	if (k < ledger->words - 1)
		return mix(token + k);
	for (i = 1; i < k; i++)
		sum = mix(sum + word_of(ledger, i, index, token));
	return sum;
}

static void alloc_ring(struct ledger *ledger, u64 keep, u64 first)
{
	size_t slot_size = ledger->words * sizeof(u64);

	ledger->ring = unit_alloc(iot_ring_bytes(keep, slot_size));
	iot_ring_init(ledger->ring, keep, slot_size, first);
	ledger->slots = ledger->ring->nr_slots;
	ledger->filling = unit_alloc(ledger->slots * sizeof(u32));
}

void ledger_init(struct ledger *ledger, u64 keep, u64 words, u64 first,
		 u64 capacity)
{
	CHECK(words >= LEDGER_MIN_WORDS && words <= MAX_WORDS, "bad test");
	ledger->words = words;
	ledger->origin = first;
	ledger->capacity = capacity;
	ledger->tokens = unit_alloc(capacity * sizeof(u64));
	alloc_ring(ledger, keep, first);
}

void ledger_destroy(struct ledger *ledger)
{
	free(ledger->ring);
	free(ledger->tokens);
	free(ledger->filling);
}

/*
 * Begin a new, empty ring that continues the indices of the present one. No writer
 * may be in the present ring. Return: the old ring, to be freed.
 */
struct iot_ring *ledger_renew(struct ledger *ledger, u64 keep)
{
	struct iot_ring *old = ledger->ring;

	free(ledger->filling);
	alloc_ring(ledger, keep, atomic64_read(&old->head));
	return old;
}

static u64 *token_of(const struct ledger *ledger, u64 index)
{
	CHECK(index - ledger->origin < ledger->capacity,
	      "index %llu is not one of the %llu from %llu", index,
	      ledger->capacity, ledger->origin);
	return &ledger->tokens[index - ledger->origin];
}

static u32 *filling_of(const struct ledger *ledger, const u64 *slot)
{
	return &ledger->filling[(slot - ledger->ring->slots) / ledger->words];
}

static void fill(const struct ledger *ledger, u64 *slot, u64 from, u64 to)
{
	u64 token = *token_of(ledger, slot[1]);
	u64 k;

	for (k = from; k < to; k++) {
		unit_step();
		slot[k] = word_of(ledger, k, slot[1], token);
	}
}

/**
 * writer_begin() - take a slot and fill half of it
 * @writer:	the writer
 * @index:	where to store the index
 *
 * The count of writers in the slot is updated with relaxed ordering. A stronger one
 * could hide from ThreadSanitizer that the ring lacks ordering.
 *
 * Return: the slot, or NULL if the record is lost.
 */
u64 *writer_begin(struct writer *writer, u64 *index)
{
	struct ledger *ledger = writer->ledger;
	u64 *slot, *token;
	u32 others;

	writer->came++;
	if (!iot_ring_reserve(ledger->ring, writer->class, &slot, index)) {
		writer->lost++;
		return NULL;
	}
	others = __atomic_fetch_add(filling_of(ledger, slot), 1,
				    __ATOMIC_RELAXED);
	CHECK(!others, "two writers fill one slot, index %llu", *index);
	token = token_of(ledger, *index);
	CHECK(!*token, "index %llu is given twice", *index);
	*token = ((u64)writer->id << 32) + writer->came;
	slot[1] = *index;
	fill(ledger, slot, 2, ledger->words / 2);
	return slot;
}

void writer_end(struct writer *writer, u64 *slot, u64 index)
{
	struct ledger *ledger = writer->ledger;

	fill(ledger, slot, ledger->words / 2, ledger->words);
	__atomic_fetch_sub(filling_of(ledger, slot), 1, __ATOMIC_RELAXED);
	iot_ring_commit(slot, index);
}

void writer_write(struct writer *writer, u64 records)
{
	u64 *slot, index;

	while (records--) {
		slot = writer_begin(writer, &index);
		if (slot)
			writer_end(writer, slot, index);
	}
}

/**
 * ledger_read() - read a record and, if the ring shows it, check that it is complete
 * @ledger:	the books of the ring
 * @index:	index of the record
 * @token:	where to store its token
 */
enum iot_ring_state ledger_read(const struct ledger *ledger, u64 index,
				u64 *token)
{
	enum iot_ring_state state;
	u64 copy[MAX_WORDS];
	u64 k;

	state = iot_ring_read(ledger->ring, index, copy);
	if (state != IOT_RING_OK)
		return state;
	*token = *token_of(ledger, index);
	CHECK(*token, "index %llu is shown, was never written", index);
	for (k = 1; k < ledger->words; k++)
		CHECK(copy[k] == word_of(ledger, k, index, *token),
		      "index %llu is torn: word %llu is %#llx", index, k,
		      copy[k]);
	return state;
}

static void check_counts(const struct ledger *ledger,
			 const struct writer *writers, unsigned int nr)
{
	u64 came[IOT_RING_CLASSES] = {}, lost[IOT_RING_CLASSES] = {};
	const struct iot_ring *ring = ledger->ring;
	u64 seen = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		came[writers[i].class] += writers[i].came;
		lost[writers[i].class] += writers[i].lost;
	}
	for (i = 0; i < IOT_RING_CLASSES; i++) {
		CHECK(iot_ring_seen(ring, i) == came[i],
		      "class %u: writers came with %llu", i, came[i]);
		CHECK((u64)atomic64_read(&ring->lost[i]) == lost[i],
		      "class %u: writers were refused %llu", i, lost[i]);
		seen += came[i];
	}
	CHECK((u64)atomic64_read(&ring->head) - ring->first == seen,
	      "seen %llu is not the number of indices taken", seen);
}

/* Return: the number of indices of this ring that were never written. */
static u64 check_order(const struct ledger *ledger)
{
	u64 head = atomic64_read(&ledger->ring->head);
	u64 last[LEDGER_WRITERS] = {};
	u64 holes = 0;
	u64 i, token;

	for (i = ledger->ring->first; i < head; i++) {
		token = *token_of(ledger, i);
		holes += !token;
		if (!token)
			continue;
		CHECK(last[token >> 32] < token,
		      "index %llu: writer %llu's records are out of order", i,
		      token >> 32);
		last[token >> 32] = token;
	}
	return holes;
}

static u64 check_window(const struct ledger *ledger)
{
	const struct iot_ring *ring = ledger->ring;
	u64 begin, end, i, token, shown = 0;

	begin = iot_ring_window(ring, &end);
	CHECK(end == (u64)atomic64_read(&ring->head), "window's end");
	CHECK(end - begin == (end - ring->base < ring->keep ?
			      end - ring->base : ring->keep),
	      "window %llu..%llu", begin, end);
	for (i = ring->base; i < end; i++) {
		enum iot_ring_state state = ledger_read(ledger, i, &token);

		if (i < begin) {
			CHECK(state != IOT_RING_PENDING ||
			      !*token_of(ledger, i),
			      "index %llu was written, is pending", i);
		} else if (*token_of(ledger, i)) {
			CHECK(state == IOT_RING_OK,
			      "index %llu was written, is not shown", i);
			shown++;
		} else {
			CHECK(state == IOT_RING_PENDING,
			      "index %llu is a hole, reads as %d", i, state);
		}
	}
	return shown;
}

static void check_slots(const struct ledger *ledger)
{
	const u64 *slot = ledger->ring->slots;
	u64 i;

	for (i = 0; i < ledger->slots; i++, slot += ledger->words) {
		CHECK(!(*slot & 1) && !ledger->filling[i],
		      "slot %llu is still being filled", i);
		CHECK(!*slot || ((*slot - 2) / 2) % ledger->slots == i,
		      "slot %llu holds index %llu", i, (*slot - 2) / 2);
	}
}

/**
 * ledger_check() - check all laws of a ring at rest
 * @ledger:	the books of the ring; no writer may be between reserve and commit
 * @writers:	all writers that wrote to this ring
 * @nr:		number of @writers
 *
 * Return: the number of records shown.
 */
u64 ledger_check(const struct ledger *ledger, const struct writer *writers,
		 unsigned int nr)
{
	u64 lost = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		lost += writers[i].lost;
	check_counts(ledger, writers, nr);
	check_slots(ledger);
	CHECK(check_order(ledger) == lost, "holes are not the %llu lost", lost);
	return check_window(ledger);
}
