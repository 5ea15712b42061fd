// SPDX-License-Identifier: GPL-2.0
/*
 * Tests module/core/order.c: what is sorted, and with how many comparisons. A log whose calls end
 * late, in any number, must not take a reader's time by the square of their number.
 */
#include <linux/kernel.h>
#include <linux/types.h>
#include "core/order.h"
#include "unit.h"

#define MANY	1000000

static u32 keys[MANY], things[MANY], spare[MANY];
static unsigned long compared, enough_at;

static bool is_after(const void *data, u32 a, u32 b)
{
	CHECK(data == keys, "not the data");
	compared++;
	return keys[a] > keys[b];
}

static bool is_enough(const void *data)
{
	CHECK(data == keys, "not the data");
	return enough_at && compared >= enough_at;
}

static const struct iot_order order = {
	.is_after = is_after,
	.is_enough = is_enough,
	.data = keys,
};

static unsigned int log2_of(size_t nr)
{
	unsigned int n = 0;

	while ((size_t)1 << n < nr)
		n++;
	return n;
}

/* Sort nr things by their keys. Each is there once; equal ones keep their order. */
static void sorts(size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		things[i] = i;
	compared = 0;
	CHECK(iot_order_sort(&order, things, nr, spare), "it gave up");
	for (i = 1; i < nr; i++)
		CHECK(keys[things[i - 1]] < keys[things[i]] ||
		      (keys[things[i - 1]] == keys[things[i]] && things[i - 1] < things[i]),
		      "%zu of %zu", i, nr);
	/* blocks of 16 take at most 120 / 16 for a thing, where a merge sort would take 4 */
	CHECK(compared <= nr * (log2_of(nr) + 6), "%lu comparisons of %zu things", compared, nr);
}

static u32 next_random(void)
{
	static u32 x = 2463534242;

	x ^= x << 13;
	x ^= x >> 17;
	return x ^= x << 5;
}

static void of_any_size(void)
{
	size_t nr, i;

	for (nr = 0; nr < 300; nr++) {
		for (i = 0; i < nr; i++)
			keys[i] = next_random() % (nr + 1);
		sorts(nr);
	}
}

static void random_order(void)
{
	size_t i;

	for (i = 0; i < MANY; i++)
		keys[i] = next_random();
	sorts(MANY);
}

static void in_order(void)
{
	size_t i;

	for (i = 0; i < MANY; i++)
		keys[i] = i;
	sorts(MANY);
	CHECK(compared < MANY + MANY / 8, "%lu comparisons", compared);
}

/* Calls that take a little longer than others, as in most logs. */
static void nearly_in_order(void)
{
	size_t i;

	for (i = 0; i < MANY; i++)
		keys[i] = i - next_random() % 4 * (i > 4);
	sorts(MANY);
	CHECK(compared < 4 * MANY, "%lu comparisons", compared);
}

/* The first half of the calls ends after the second half. */
static void ended_late(void)
{
	size_t i;

	for (i = 0; i < MANY; i++)
		keys[i] = (i + MANY / 2) % MANY;
	sorts(MANY);
	for (i = 0; i < MANY; i++)
		keys[i] = MANY - i;
	sorts(MANY);
}

static void gives_up(void)
{
	size_t i;

	for (i = 0; i < MANY; i++)
		things[i] = i;
	for (i = 0; i < MANY; i++)
		keys[i] = MANY - i;
	for (enough_at = 1; enough_at < 20000000; enough_at *= 3) {
		compared = 0;
		for (i = 0; i < MANY; i++)
			things[i] = i;
		if (iot_order_sort(&order, things, MANY, spare))
			break;
		CHECK(compared < enough_at + 40000, "%lu comparisons, not %lu", compared, enough_at);
	}
	CHECK(enough_at > 1000000, "it sorts with %lu comparisons", enough_at);
}

int main(int argc, char **argv)
{
	static const struct unit_test tests[] = {
		{ "any-size", of_any_size },
		{ "random-order", random_order },
		{ "in-order", in_order },
		{ "nearly-in-order", nearly_in_order },
		{ "ended-late", ended_late },
		{ "gives-up", gives_up },
	};

	return unit_main(argc, argv, tests, ARRAY_SIZE(tests));
}
