// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/xalloc.h"
#include "report/places.h"

/* Makes ranges of twice the size. */
static void widen(struct places *p, const struct grid *g)
{
	size_t bucket, i, way;

	p->size *= 2;
	for (bucket = 0; bucket < g->nr; bucket++) {
		struct place *at = p->at[bucket];

		for (i = 0; i < PLACES / 2; i++)
			for (way = 0; way < 2; way++)
				at[i].bytes[way] = at[2 * i].bytes[way] + at[2 * i + 1].bytes[way];
		memset(at + PLACES / 2, 0, PLACES / 2 * sizeof(*at));
	}
}

void places_add(struct places *p, const struct grid *g, size_t bucket, bool write, __u64 start, __u64 bytes,
		__u64 weight)
{
	if (!p->at) {
		p->at = xchecked(calloc(g->nr, sizeof(*p->at)));
		p->size = PLACES_LEAST;
	}
	while (start / p->size >= PLACES)
		widen(p, g);
	p->accesses += weight;
	p->at[bucket][start / p->size].bytes[write] += weight * bytes;
}

void places_json(const struct places *p, const struct grid *g, json_t *object)
{
	json_t *array = json_array();
	size_t i, range;

	for (i = 0; p->at && i < g->nr; i++)
		for (range = 0; range < PLACES; range++) {
			const struct place *at = &p->at[i][range];

			if (!at->bytes[0] && !at->bytes[1])
				continue;
			json_add(array, json_integer(i));
			json_add(array, json_integer(range));
			json_add(array, json_unsigned(at->bytes[0]));
			json_add(array, json_unsigned(at->bytes[1]));
		}
	json_put(object, "range_bytes", json_unsigned(p->size));
	json_put(object, "at", array);
}

void places_free(struct places *p)
{
	free(p->at);
}
