// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/gaps.h"

__u64 gaps_before(struct gaps *g, unsigned int cpu, __u64 seq)
{
	__u64 next;

	if (cpu >= g->nr) {
		g->next = xreallocarray(g->next, cpu + 1, sizeof(*g->next));
		memset(g->next + g->nr, 0, (cpu + 1 - g->nr) * sizeof(*g->next));
		g->nr = cpu + 1;
	}
	next = g->next[cpu];
	g->next[cpu] = seq + 1;
	return next && seq > next ? seq - next : 0;
}

void gaps_free(struct gaps *g)
{
	free(g->next);
	*g = (struct gaps){ .nr = 0 };
}
