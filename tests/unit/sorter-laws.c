// SPDX-License-Identifier: GPL-2.0
/*
 * Laws of tools/trace/sorter: whatever fits in memory, all items come out once, in order of group and
 * time, and those of the same group and time in the order in which they were added. A temporary file
 * that cannot be made, or is full, fails.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/cli.h"
#include "trace/sorter.h"

struct item {
	struct sorter_key key;
	__u32 group, time;	/* as in the key */
	__u64 added;
};

static unsigned int state = 1;

static unsigned int any(unsigned int below)
{
	state = state * 1103515245 + 12345;
	return (state >> 16) % below;
}

static void must(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "not so: %s\n", what);
	exit(1);
}

static int fill(struct sorter *s, size_t nr, unsigned int groups, unsigned int times)
{
	for (size_t i = 0; i < nr; i++) {
		struct item item = { .group = any(groups), .time = any(times), .added = i };

		item.key.group = (__u64)item.group << 33;
		item.key.time = (__u64)item.time << 34;
		item.key.serial = ~0ULL;
		if (!sorter_add(s, &item))
			return 0;
	}
	return sorter_finish(s);
}

static void sort(size_t nr, size_t most, unsigned int groups, unsigned int times)
{
	struct item last = { .group = 0 }, now;
	char *seen = calloc(nr + 1, 1);
	const void *item;
	struct sorter s;
	size_t got = 0;

	sorter_open(&s, sizeof(struct item), most);
	must(fill(&s, nr, groups, times), "sorted");
	must(s.nr_runs == (nr > most ? (nr + most - 1) / most : 0), "as many runs as do not fit");
	for (; (item = sorter_next(&s)); got++, last = now) {
		memcpy(&now, item, sizeof(now));
		must(now.key.group == (__u64)now.group << 33 && now.key.time == (__u64)now.time << 34,
		     "items stay whole");
		must(now.added < nr && !seen[now.added]++, "each item once");
		if (!got)
			continue;
		must(last.group <= now.group, "groups rise");
		must(last.group < now.group || last.time <= now.time, "times rise in a group");
		must(last.group < now.group || last.time < now.time || last.added < now.added,
		     "order of adding");
	}
	must(got == nr && !s.failed, "all items");
	must(!sorter_next(&s), "nothing behind the end");
	sorter_close(&s);
	free(seen);
}

int main(void)
{
	static const size_t most[] = { 1, 2, 3, 7, 64, 100000 };
	struct rlimit small = { 4096, 4096 };
	struct sorter s;

	cli_begin();
	for (size_t m = 0; m < sizeof(most) / sizeof(most[0]); m++)
		for (size_t nr = 0; nr < 2000; nr = nr * 3 / 2 + 1) {
			sort(nr, most[m], 1, 1 << 30);
			sort(nr, most[m], 3, 5);
		}
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	sorter_open(&s, sizeof(struct item), 64);
	must(!fill(&s, 1000, 1, 5) && s.failed, "a full file fails");
	must(!sorter_next(&s), "and gives no item");
	sorter_close(&s);
	setenv("TMPDIR", "/none", 1);
	sorter_open(&s, sizeof(struct item), 64);
	must(!fill(&s, 1000, 1, 5) && s.failed, "a file that cannot be made fails");
	sorter_close(&s);
	return 0;
}
