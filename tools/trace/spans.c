// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/spans.h"

void spans_add(struct spans *s, __u64 begin, __u64 end)
{
	size_t first, behind = s->nr;

	if (begin >= end)
		return;
	while (behind && s->at[behind - 1].begin > end)
		behind--;
	/* Those from @first to @behind touch the new span, and become one with it. */
	for (first = behind; first && s->at[first - 1].end >= begin; first--) {
		if (s->at[first - 1].begin < begin)
			begin = s->at[first - 1].begin;
		if (s->at[first - 1].end > end)
			end = s->at[first - 1].end;
	}
	if (first == behind && s->nr == s->room) {
		s->room = s->room ? 2 * s->room : 4;
		s->at = xreallocarray(s->at, s->room, sizeof(*s->at));
	}
	memmove(s->at + first + 1, s->at + behind, (s->nr - behind) * sizeof(*s->at));
	s->at[first] = (struct span){ begin, end };
	s->nr = s->nr + 1 - (behind - first);
}

__u64 spans_overlap(const struct spans *s, __u64 begin, __u64 end)
{
	__u64 sum = 0;
	size_t i;

	for (i = 0; i < s->nr; i++) {
		__u64 from = s->at[i].begin > begin ? s->at[i].begin : begin;
		__u64 to = s->at[i].end < end ? s->at[i].end : end;

		if (from < to)
			sum += to - from;
	}
	return sum;
}

__u64 spans_length(const struct spans *s)
{
	return spans_overlap(s, 0, ~0ULL);
}

void spans_free(struct spans *s)
{
	free(s->at);
	*s = (struct spans){ 0 };
}
