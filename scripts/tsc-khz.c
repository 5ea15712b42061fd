// SPDX-License-Identifier: GPL-2.0
/*
 * Prints how many thousand times a second the processor's time stamp counter (TSC) counts, by
 * the monotonic clock. QEMU without KVM shows the same counter to its guests. A guest kernel
 * that measures it while the host is busy may be wrong by a factor, and so is its clock.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct moment {
	uint64_t tsc;
	int64_t ns;
};

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* Both at one moment: of many readings the one that took the least time. */
static struct moment both(void)
{
	struct moment best = { 0 };
	int64_t least = INT64_MAX;

	for (int i = 0; i < 1000; i++) {
		int64_t before = now();
		uint64_t tsc = __rdtsc();
		int64_t took = now() - before;

		if (took < least) {
			least = took;
			best = (struct moment){ tsc, before + took / 2 };
		}
	}
	return best;
}

int main(void)
{
	const struct timespec pause = { .tv_nsec = 200000000 };
	struct moment a = both(), b;

	nanosleep(&pause, NULL);
	b = both();
	printf("%.0f\n", (b.tsc - a.tsc) * 1e6 / (b.ns - a.ns));
	return 0;
}
