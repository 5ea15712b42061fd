// SPDX-License-Identifier: GPL-2.0
/*
 * Tests tools/top/limit.c with costs that are given: when iotracer top doubles the sample and when
 * it halves it, that it comes to rest, and that it never leaves its bounds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "top/limit.h"

#define SECOND	1000000000ULL
#define MS	1000000ULL

/* One second: @ms of processor time, @records read. */
static void is(__u64 expected, __u64 sample, double percent, __u64 ms, __u64 records)
{
	const struct top_cost cost = { ms * MS, SECOND, records };
	__u64 found = top_limit_sample(sample, percent, &cost);

	if (found == expected)
		return;
	printf("1 in %llu, limit %g %%, %llu ms, %llu records: 1 in %llu instead of %llu\n", sample, percent, ms, records,
	       found, expected);
	exit(1);
}

static void steps(void)
{
	is(2, 1, 3, 31, 100000);	/* above the limit */
	is(1, 1, 3, 30, 100000);	/* at it */
	is(8, 8, 3, 29, 100000);	/* below it */
	is(8, 8, 3, 8, 100000);		/* a quarter is 7.5 ms */
	is(4, 8, 3, 7, 100000);
	is(4, 8, 40, 99, 100000);	/* another limit */
	is(16, 8, 0.001, 1, 100000);
	is(1, 1, 3, 0, 0);		/* nothing happens */
	/* it costs too much, but not because of the records */
	is(8, 8, 3, 500, 10000);
	is(8, 8, 3, 500, 2500);
	is(4, 8, 3, 500, 2499);
	is(1, 1, 3, 500, 100);
	/* bounds */
	is(65536, 65536, 3, 900, 100000);
	is(65536, 32768, 3, 900, 100000);
}

/* Twice the time with twice of all is the same. */
static void rates(void)
{
	const struct top_cost cost = { 31 * 4 * MS, 4 * SECOND, 15000 * 4 }, few = { 31 * 4 * MS, 4 * SECOND, 9000 * 4 };

	if (top_limit_sample(1, 3, &cost) != 2 || top_limit_sample(2, 3, &few) != 2) {
		printf("four seconds differ from one\n");
		exit(1);
	}
}

/* N after some seconds with these events. @ns: what one costs; @rest: what all else costs a second. */
static __u64 after(int seconds, __u64 sample, __u64 events, __u64 ns, __u64 rest)
{
	for (; seconds; seconds--) {
		const struct top_cost cost = { events / sample * ns + rest, SECOND, events / sample };

		sample = top_limit_sample(sample, 3, &cost);
	}
	return sample;
}

/* With events at a steady rate N comes to rest, and it is 1 again soon after they end. */
static void comes_to_rest(void)
{
	__u64 events, ns, rest, sample;

	for (events = 1; events < 100000000; events *= 3)
		for (ns = 1; ns < 100000; ns *= 7)
			for (rest = 0; rest < 100 * MS; rest += 9 * MS) {
				sample = after(40, 1, events, ns, rest);
				if (after(1, sample, events, ns, rest) == sample && after(17, sample, 0, ns, rest) == 1)
					continue;
				printf("%llu events of %llu ns, %llu ns beside them: 1 in %llu\n", events, ns, rest, sample);
				exit(1);
			}
}

int main(void)
{
	steps();
	rates();
	comes_to_rest();
	return 0;
}
