// SPDX-License-Identifier: GPL-2.0
/*
 * Tests the laws of module/core/ring.[ch] in one thread, where every outcome is
 * determined. The hook of the shims stands in for interrupts and other CPUs: a test
 * makes another writer write before the n-th access to the ring, for every n.
 */
#include <linux/compiler.h>
#include <linux/types.h>
#include "ledger.h"
#include "unit.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define WORDS 7
#define LEVELS 3	/* task, softirq, hardirq */

/* Small and large rings; some have a power of two slots. */
static const u64 keeps[] = { 1, 2, 3, 9, 10, 11, 26, 27, 100 };

/* The test itself writes at level 0; each higher level interrupts the one below. */
static struct writer writers[LEVELS];

/* plans[l]: before access @at of level l, level l + 1 writes @burst records. */
static struct plan {
	u64 at;
	u64 burst;
	u64 accesses;
} plans[LEVELS];

static unsigned int level;

static void begin(struct ledger *ledger, u64 keep, u64 first, u64 capacity)
{
	unsigned int i;

	ledger_init(ledger, keep, WORDS, first, capacity);
	for (i = 0; i < LEVELS; i++)
		writers[i] = (struct writer){ ledger, i, i & 1, 0, 0 };
}

static u64 end(struct ledger *ledger)
{
	u64 shown = ledger_check(ledger, writers, LEVELS);

	ledger_destroy(ledger);
	return shown;
}

static u64 lost(void)
{
	return writers[0].lost + writers[1].lost + writers[2].lost;
}

static void interrupt(void)
{
	struct plan *interrupted = &plans[level];

	if (++interrupted->accesses != interrupted->at)
		return;
	level++;
	plans[level].accesses = 0;
	writer_write(&writers[level], interrupted->burst);
	level--;
}

static void plan(unsigned int at_level, u64 at, u64 burst)
{
	plans[at_level] = (struct plan){ at, burst, 0 };
}

/* Return: whether access @at of level 0 was reached. */
static bool played(void)
{
	unit_hook = NULL;
	return plans[0].accesses >= plans[0].at;
}

static void test_sizes(void)
{
	static const struct {
		u64 keep, slots;
	} table[] = {
		{ 1, 7 }, { 2, 8 }, { 10, 16 }, { 11, 17 }, { 16384, 16390 },
		{ 1000000, 1000006 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		CHECK(iot_ring_bytes(table[i].keep, 96) ==
		      sizeof(struct iot_ring) + table[i].slots * 96,
		      "keep %llu: %zu bytes", table[i].keep,
		      iot_ring_bytes(table[i].keep, 96));
}

/* The slot of an index is the index modulo the number of slots, up to the largest index. */
static void check_slot(const struct iot_ring *ring, u64 index)
{
	u64 at = (u64)(iot_ring_slot(ring, index) - ring->slots) / WORDS;

	CHECK(at == index % ring->nr_slots, "keep %llu, index %llu: slot %llu",
	      ring->keep, index, at);
}

static void test_slots(void)
{
	static const u64 around[] = {
		0, 1ULL << 31, 1ULL << 32, 1ULL << 33, 0x123456789abcdefULL, 1ULL << 62,
	};
	static const u64 more[] = { 1, 2, 3, 9, 10, 11, 26, 250, 4096, 1000003 };
	struct ledger ledger;
	size_t a, k;
	u64 i, n;

	for (k = 0; k < ARRAY_SIZE(more); k++) {
		begin(&ledger, more[k], 0, 1);
		n = ledger.slots;
		for (a = 0; a < ARRAY_SIZE(around); a++)
			for (i = 0; i < 3000; i++)
				check_slot(ledger.ring, around[a] + i);
		/* an inexact quotient would show at multiples and their neighbours */
		for (i = 0; i < 3000; i++) {
			u64 multiple = ((1ULL << 63) / n - 1 - i) * n;

			check_slot(ledger.ring, multiple - 1);
			check_slot(ledger.ring, multiple);
			check_slot(ledger.ring, multiple + 1);
			check_slot(ledger.ring, (1ULL << 63) - 2 - i);
		}
		end(&ledger);
	}
}

static void test_empty(void)
{
	static const u64 firsts[] = { 0, 1, 7, 8, 1ULL << 62 };
	struct ledger ledger;
	size_t i;
	u64 token;

	for (i = 0; i < ARRAY_SIZE(firsts); i++) {
		begin(&ledger, 3, firsts[i], 1);
		CHECK(ledger_read(&ledger, firsts[i], &token) ==
		      IOT_RING_PENDING, "first %llu", firsts[i]);
		CHECK(end(&ledger) == 0, "records in an empty ring");
	}
}

/*
 * After each record the last @keep records are shown. A record reads as OK until its
 * slot is reused, and as GONE from then on.
 */
static void fill_and_check(u64 keep, u64 first)
{
	struct ledger ledger;
	u64 head, i, n, token;

	begin(&ledger, keep, first, 1024);
	n = ledger.slots;
	for (head = first + 1; head <= first + 3 * n + 1; head++) {
		writer_write(&writers[0], 1);
		CHECK(ledger_check(&ledger, writers, LEVELS) ==
		      (head - first < keep ? head - first : keep),
		      "keep %llu, %llu written", keep, head - first);
		for (i = first; i < head; i++)
			CHECK(ledger_read(&ledger, i, &token) ==
			      (i + n < head ? IOT_RING_GONE : IOT_RING_OK),
			      "keep %llu, index %llu of %llu", keep, i, head);
		CHECK(ledger_read(&ledger, head, &token) == IOT_RING_PENDING,
		      "index %llu before it is written", head);
	}
	CHECK(!lost(), "lost without a reason");
	end(&ledger);
}

static void test_wraparound(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keeps); i++)
		fill_and_check(keeps[i], 0);
}

/* First indices as in the ring of a target that is resized after many records. */
static void test_far_first(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keeps); i++) {
		fill_and_check(keeps[i], 5);
		fill_and_check(keeps[i], (1ULL << 32) - 3);
		fill_and_check(keeps[i], (1ULL << 63) - 1024);
	}
}

/*
 * A writer stalls while it fills its slot. Each lap loses the one record that needs
 * this slot. The stalled writer's own record stays. Afterwards no record is lost.
 */
static void stall(u64 keep, u64 laps)
{
	struct ledger ledger;
	u64 index, n, token;
	u64 *slot;

	begin(&ledger, keep, 0, 2048);
	n = ledger.slots;
	writer_write(&writers[0], 2);
	slot = writer_begin(&writers[1], &index);
	CHECK(slot && index == 2, "no slot in a free ring");
	writer_write(&writers[0], laps * n);
	CHECK(lost() == laps && writers[0].lost == laps,
	      "%llu laps lost %llu", laps, lost());
	CHECK(ledger_read(&ledger, index, &token) == IOT_RING_PENDING &&
	      ledger_read(&ledger, index + laps * n, &token) ==
	      IOT_RING_PENDING, "a record being filled is shown");
	writer_end(&writers[1], slot, index);
	CHECK(ledger_read(&ledger, index, &token) == IOT_RING_OK,
	      "the stalled record did not stay");
	ledger_check(&ledger, writers, LEVELS);
	writer_write(&writers[0], n);
	CHECK(ledger_read(&ledger, index, &token) == IOT_RING_GONE,
	      "the slot was not used again");
	CHECK(lost() == laps && end(&ledger) == keep, "no recovery");
}

static void test_stalled_writer(void)
{
	u64 laps;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keeps); i++)
		for (laps = 1; laps < 4; laps++)
			stall(keeps[i], laps);
}

/* Stalled writers hold every slot: all further records are lost and counted. */
static void test_all_stalled(void)
{
	u64 index[8];
	u64 *slot[8];
	struct ledger ledger;
	u64 i;

	begin(&ledger, 2, 0, 64);
	CHECK(ledger.slots == ARRAY_SIZE(slot), "bad test");
	for (i = 0; i < ARRAY_SIZE(slot); i++)
		slot[i] = writer_begin(&writers[0], &index[i]);
	writer_write(&writers[1], 20);
	CHECK(writers[1].lost == 20, "%llu of 20 lost", writers[1].lost);
	for (i = ARRAY_SIZE(slot); i--;)
		writer_end(&writers[0], slot[i], index[i]);
	CHECK(ledger_check(&ledger, writers, LEVELS) == 0, "lost, yet shown");
	writer_write(&writers[2], 2);
	CHECK(end(&ledger) == 2, "no recovery");
}

/*
 * The accesses of a write are: take the index, count it if it is of class 1, read the
 * state, claim, fill, commit. The access before which an interrupt comes determines
 * how many records are lost.
 */
static u64 losses(u64 at, u64 burst, u64 n)
{
	if (at <= 1)
		return 0;		/* no index taken yet: the write is only later */
	if (at <= 3)
		return burst >= n;	/* the interrupted writer comes too late */
	return burst / n;		/* one record per lap finds the slot busy */
}

static bool interrupt_write(u64 keep, u64 before, u64 at, u64 laps, int more)
{
	struct ledger ledger;
	bool reached;
	u64 burst, n;

	begin(&ledger, keep, 0, 4096);
	n = ledger.slots;
	burst = laps * n + more;
	writer_write(&writers[0], before);
	plan(0, at, burst);
	plan(1, 0, 0);
	unit_hook = interrupt;
	writer_write(&writers[0], 1);
	reached = played();
	CHECK(!reached || lost() == losses(at, burst, n),
	      "keep %llu, %llu records before access %llu lost %llu", keep,
	      burst, at, lost());
	ledger_check(&ledger, writers, LEVELS);
	n += lost();
	writer_write(&writers[0], n);
	CHECK(end(&ledger) == keep && lost() == n - ledger.slots,
	      "no recovery");
	return reached;
}

static void interrupt_everywhere(u64 keep, u64 before)
{
	u64 at, laps;
	int more;

	for (laps = 1; laps < 4; laps++)
		for (more = -1; more < 2; more++)
			for (at = 1; interrupt_write(keep, before, at, laps,
						     more); at++)
				;
}

static void test_interrupted_writer(void)
{
	static const u64 befores[] = { 0, 1, 7, 8, 9, 40 };
	size_t b, k;

	for (k = 0; k < ARRAY_SIZE(keeps); k++)
		for (b = 0; b < ARRAY_SIZE(befores); b++)
			interrupt_everywhere(keeps[k], befores[b]);
}

/* A softirq interrupts the writer and a hardirq the softirq, before these accesses. */
static void interrupt_twice(u64 before, struct plan soft, struct plan hard)
{
	struct ledger ledger;

	begin(&ledger, 2, 0, 256);
	writer_write(&writers[0], before);
	plans[0] = soft;
	plans[1] = hard;
	plan(2, 0, 0);
	unit_hook = interrupt;
	writer_write(&writers[0], 1);
	CHECK(played() && plans[1].accesses >= hard.at, "bad test");
	end(&ledger);
}

static void interrupt_twice_everywhere(u64 before, u64 burst, u64 burst2)
{
	const u64 write = 4 + WORDS - 2 + 1, lost_write = 4, level_0_write = write - 1;
	struct plan soft = { .burst = burst }, hard = { .burst = burst2 };

	/* the softirq may lose one record per lap, which makes fewer accesses */
	const u64 least_accesses = burst * write -
				   burst / 8 * (write - lost_write);

	for (soft.at = 1; soft.at <= level_0_write; soft.at++)
		for (hard.at = 1; hard.at <= least_accesses; hard.at++)
			interrupt_twice(before, soft, hard);
}

static void test_twice_interrupted_writer(void)
{
	static const u64 bursts[] = { 1, 7, 8, 9, 16, 17 };
	size_t j, k;

	for (j = 0; j < ARRAY_SIZE(bursts); j++) {
		for (k = 0; k < ARRAY_SIZE(bursts); k++) {
			interrupt_twice_everywhere(0, bursts[j], bursts[k]);
			interrupt_twice_everywhere(9, bursts[j], bursts[k]);
		}
	}
}

/* What a reader sees in the middle of a write. */
static struct ledger *watched;
static u64 watched_first, watched_index;

static void watch(void)
{
	void (*hook)(void) = unit_hook;
	u64 i, token;

	unit_hook = NULL;
	for (i = watched_first; i < watched_index; i++)
		CHECK(ledger_read(watched, i, &token) != IOT_RING_PENDING,
		      "index %llu, committed, is pending", i);
	CHECK(ledger_read(watched, i, &token) == IOT_RING_PENDING,
	      "index %llu is shown before its commit", i);
	unit_hook = hook;
}

static void test_watched_writer(void)
{
	struct ledger ledger;
	size_t k;

	for (k = 0; k < ARRAY_SIZE(keeps); k++) {
		begin(&ledger, keeps[k], 3, 512);
		watched = &ledger;
		watched_first = 3;
		unit_hook = watch;
		for (watched_index = 3; watched_index < 400; watched_index++)
			writer_write(&writers[0], 1);
		unit_hook = NULL;
		end(&ledger);
	}
}

/* Before access @at of its copy a reader is overtaken, or almost overtaken. */
static bool overtake(u64 keep, u64 at, u64 burst)
{
	enum iot_ring_state state;
	struct ledger ledger;
	u64 index, last, token;
	bool gone, reached;

	begin(&ledger, keep, 0, 1024);
	writer_write(&writers[0], ledger.slots + keep);
	index = iot_ring_window(ledger.ring, &last);
	gone = index + ledger.slots < last + burst;
	plan(0, at, burst);
	plan(1, 0, 0);
	unit_hook = interrupt;
	state = ledger_read(&ledger, index, &token);
	reached = played();
	CHECK(!reached || state == (gone ? IOT_RING_GONE : IOT_RING_OK),
	      "keep %llu, %llu records before access %llu: reads as %d", keep,
	      burst, at, state);
	end(&ledger);
	return reached;
}

static void test_overtaken_reader(void)
{
	u64 at, burst;
	size_t k;

	for (k = 0; k < ARRAY_SIZE(keeps); k++)
		for (burst = 1; burst < 140; burst++)
			for (at = 1; overtake(keeps[k], at, burst); at++)
				;
}

/* As above, by a writer that has not committed when the reader reads the state again. */
static u64 *held_slot;
static u64 held_index, held_at;

static void hold(void)
{
	if (--held_at)
		return;
	unit_hook = NULL;
	writer_write(&writers[1], writers[1].ledger->slots - 1);
	held_slot = writer_begin(&writers[1], &held_index);
}

static void test_half_overtaken_reader(void)
{
	const u64 accesses = 1 + WORDS - 1 + 1;
	struct ledger ledger;
	u64 at, token;

	for (at = 1; at <= accesses; at++) {
		begin(&ledger, 1, 0, 64);
		writer_write(&writers[0], 1);
		held_at = at;
		unit_hook = hold;
		CHECK(ledger_read(&ledger, 0, &token) == IOT_RING_GONE,
		      "half overwritten before access %llu, yet shown", at);
		CHECK(!unit_hook && held_index == ledger.slots, "bad test");
		writer_end(&writers[1], held_slot, held_index);
		end(&ledger);
	}
}

/* Resize a ring as its owner does: see target.c. */
static void resize(struct ledger *ledger, u64 keep)
{
	struct iot_ring *old = ledger_renew(ledger, keep);
	u64 copy[WORDS], base, i, last;

	for (i = 0; i < LEVELS; i++) {
		writers[i].came = 0;
		writers[i].lost = 0;
	}
	base = iot_ring_window(old, &last);
	for (i = base; i < last; i++)
		if (iot_ring_read(old, i, copy) == IOT_RING_OK)
			iot_ring_put(ledger->ring, i, copy);
	WRITE_ONCE(ledger->ring->base, base);
	free(old);
}

static u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* The newest records that fit stay, and pass out of the window one by one. */
static void resize_and_check(u64 from, u64 to, u64 before)
{
	u64 kept = least(from, before);
	struct ledger ledger;
	u64 i;

	begin(&ledger, from, 0, 1024);
	writer_write(&writers[0], before);
	resize(&ledger, to);
	for (i = 0; i < 2 * ledger.slots; i++) {
		CHECK(ledger_check(&ledger, writers, LEVELS) ==
		      least(to, kept + i),
		      "%llu of keep %llu to keep %llu, %llu later", before,
		      from, to, i);
		writer_write(&writers[0], 1);
	}
	CHECK(!lost(), "lost without a reason");
	end(&ledger);
}

static void test_resize(void)
{
	static const u64 befores[] = { 0, 1, 2, 15, 16, 17, 100, 300 };
	size_t i, j, k;

	for (i = 0; i < ARRAY_SIZE(keeps); i++)
		for (j = 0; j < ARRAY_SIZE(keeps); j++)
			for (k = 0; k < ARRAY_SIZE(befores); k++)
				resize_and_check(keeps[i], keeps[j],
						 befores[k]);
}

/* A hole in the old ring is a hole in the new one. */
static void test_resize_with_hole(void)
{
	struct ledger ledger;
	u64 index;
	u64 *slot;

	begin(&ledger, 10, 0, 256);
	slot = writer_begin(&writers[1], &index);
	writer_write(&writers[0], ledger.slots + 3);
	writer_end(&writers[1], slot, index);
	CHECK(lost() == 1, "bad test");
	CHECK(ledger_check(&ledger, writers, LEVELS) == 9, "no hole");
	resize(&ledger, 30);
	CHECK(end(&ledger) == 9, "the hole was filled or has grown");
}

static bool interrupt_resize(u64 from, u64 to, u64 at, u64 burst)
{
	struct ledger ledger;
	bool reached;

	begin(&ledger, from, 0, 1024);
	writer_write(&writers[0], 50);
	plan(0, at, burst);
	plan(1, 0, 0);
	/* ledger_renew() accesses the ring, too, before any writer can */
	unit_hook = interrupt;
	resize(&ledger, to);
	reached = played();
	end(&ledger);
	return reached;
}

/* Writers write to the new ring while the old records are put into it. */
static void test_interrupted_resize(void)
{
	static const u64 few[] = { 1, 3, 10, 26 };
	static const u64 bursts[] = { 1, 5, 6, 7, 8, 15, 16, 17, 31, 33, 70 };
	/* renew reads head, init sets it, the window reads head and base */
	const u64 setup = 4;
	size_t b, i, j;
	u64 at;

	for (i = 0; i < ARRAY_SIZE(few); i++)
		for (j = 0; j < ARRAY_SIZE(few); j++)
			for (b = 0; b < ARRAY_SIZE(bursts); b++)
				for (at = setup + 1;
				     interrupt_resize(few[i], few[j], at,
						      bursts[b]); at++)
					;
}

/* iot_ring_put() refuses a record that is older than one that the slot has held. */
static void test_put_below_newer(void)
{
	u64 copy[WORDS] = {};
	struct ledger ledger;
	u64 token;

	begin(&ledger, 2, 8, 64);
	writer_write(&writers[0], 8);
	iot_ring_put(ledger.ring, 7, copy);
	CHECK(ledger_read(&ledger, 15, &token) == IOT_RING_OK,
	      "a newer record was overwritten by an older one");
	CHECK(end(&ledger) == 2, "window");
}

static void forget_counts(void)
{
	unsigned int i;

	for (i = 0; i < LEVELS; i++) {
		writers[i].came = 0;
		writers[i].lost = 0;
	}
}

/* Empty a ring with a hole in place: no earlier record and no count remains. */
static void reset_and_check(u64 keep, u64 before, u64 first)
{
	struct ledger ledger;
	u64 i, index, n;
	u64 *slot;

	begin(&ledger, keep, first, 1024);
	n = ledger.slots;
	slot = writer_begin(&writers[2], &index);
	writer_write(&writers[1], before);
	if (slot)
		writer_end(&writers[2], slot, index);
	iot_ring_reset(ledger.ring);
	forget_counts();
	CHECK(!ledger_check(&ledger, writers, LEVELS), "records after a reset");
	for (i = 1; i < 2 * n; i++) {
		writer_write(&writers[i & 1], 1);
		CHECK(ledger_check(&ledger, writers, LEVELS) == least(keep, i),
		      "keep %llu, %llu before and %llu after", keep, before, i);
	}
	CHECK(!lost(), "lost without a reason");
	end(&ledger);
}

static void test_reset(void)
{
	static const u64 befores[] = { 0, 1, 7, 8, 40, 107 };
	size_t b, k;

	for (k = 0; k < ARRAY_SIZE(keeps); k++) {
		for (b = 0; b < ARRAY_SIZE(befores); b++) {
			reset_and_check(keeps[k], befores[b], 0);
			reset_and_check(keeps[k], befores[b], (1ULL << 62) + 5);
		}
	}
}

/* A reader that began before the reset sees complete old records until they are overwritten. */
static void test_reset_under_reader(void)
{
	struct ledger ledger;
	u64 end_of_window, i, token;

	begin(&ledger, 10, 0, 256);
	writer_write(&writers[0], 10);
	iot_ring_reset(ledger.ring);
	for (i = 0; i < 10; i++)
		CHECK(ledger_read(&ledger, i, &token) == IOT_RING_OK, "index %llu", i);
	/* hiding records that mode discard took before the reset does not bring back the others */
	iot_ring_hide(ledger.ring, 5);
	CHECK(iot_ring_window(ledger.ring, &end_of_window) == 10, "window");
	forget_counts();
	writer_write(&writers[0], ledger.slots);
	for (i = 0; i < 10; i++)
		CHECK(ledger_read(&ledger, i, &token) == IOT_RING_GONE, "index %llu", i);
	CHECK(end(&ledger) == 10, "window");
}

/* Keep fewer records in the same slots, then more: what has left the window stays out. */
static void test_limit(void)
{
	struct ledger ledger;
	u64 i;

	begin(&ledger, 100, 0, 1024);
	CHECK(iot_ring_capacity(ledger.ring) == 100, "capacity");
	writer_write(&writers[0], 150);
	iot_ring_limit(ledger.ring, 7);
	CHECK(ledger_check(&ledger, writers, LEVELS) == 7, "not 7");
	iot_ring_limit(ledger.ring, 100);
	for (i = 0; i < 120; i++) {
		CHECK(ledger_check(&ledger, writers, LEVELS) == least(100, 7 + i),
		      "%llu later", i);
		writer_write(&writers[1], 1);
	}
	end(&ledger);
}

/* A refused record takes no index, and counts as seen and lost. */
static void test_refused(void)
{
	struct ledger ledger;

	begin(&ledger, 10, 0, 64);
	writer_write(&writers[0], 3);
	writer_write(&writers[1], 4);
	iot_ring_refuse(ledger.ring, 0);
	iot_ring_refuse(ledger.ring, 1);
	CHECK(iot_ring_seen(ledger.ring, 0) == 4 && iot_ring_seen(ledger.ring, 1) == 5,
	      "seen %llu and %llu", iot_ring_seen(ledger.ring, 0),
	      iot_ring_seen(ledger.ring, 1));
	CHECK(atomic64_read(&ledger.ring->lost[0]) == 1 &&
	      atomic64_read(&ledger.ring->lost[1]) == 1, "lost");
	CHECK(atomic64_read(&ledger.ring->head) == 7, "an index was taken");
	iot_ring_reset(ledger.ring);
	forget_counts();
	end(&ledger);
}

static const struct unit_test tests[] = {
	{ "sizes", test_sizes },
	{ "slots", test_slots },
	{ "empty", test_empty },
	{ "wraparound", test_wraparound },
	{ "far-first", test_far_first },
	{ "stalled-writer", test_stalled_writer },
	{ "all-stalled", test_all_stalled },
	{ "interrupted-writer", test_interrupted_writer },
	{ "twice-interrupted-writer", test_twice_interrupted_writer },
	{ "watched-writer", test_watched_writer },
	{ "overtaken-reader", test_overtaken_reader },
	{ "half-overtaken-reader", test_half_overtaken_reader },
	{ "resize", test_resize },
	{ "resize-with-hole", test_resize_with_hole },
	{ "interrupted-resize", test_interrupted_resize },
	{ "put-below-newer", test_put_below_newer },
	{ "reset", test_reset },
	{ "reset-under-reader", test_reset_under_reader },
	{ "limit", test_limit },
	{ "refused", test_refused },
};

int main(int argc, char **argv)
{
	return unit_main(argc, argv, tests, ARRAY_SIZE(tests));
}
