// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "cmd/pass.h"
#include "cmd/profile_maps.h"

/* The rows that have a map are the first; others are of many keys. */
static size_t nr_of(const struct patterns *p)
{
	size_t nr = p->nr && p->rows[p->nr - 1].key == KEY_TEXT_OTHERS ? p->nr - 1 : p->nr;

	return nr < PROFILE_MAPS ? nr : PROFILE_MAPS;
}

static void add(struct patterns *patterns, const __u32 *row_of, __u32 keys, const void *record,
		const struct measure *m, struct access_map *maps, size_t nr)
{
	struct position at;
	__u32 key = patterns_find(patterns, record, m, &at);

	if (key < keys && row_of[key] < nr)
		access_map_add(&maps[row_of[key]], at.kind == POSITION_WRITE, at.start, m->time, m->weight);
}

/* A row without accesses has a map without counts. */
static void open_map(struct access_map *map, const struct pass *pass, const struct pattern_row *row)
{
	bool any = pattern_total(row).count;

	access_map_open(map, any ? row->lowest : 0, any ? row->highest : 0, any ? row->earliest : 0,
			any ? row->latest : 0);
	map->since = "time since the start of the trace";
	map->origin = pass->check.metadata.begin.monotonic;
}

int profile_maps(struct pass *pass, size_t i, struct stats_keys *keys, struct patterns *patterns,
		 struct access_map **maps, size_t *nr)
{
	__u32 *row_of = patterns_row_of(patterns), nr_keys = patterns->table.names.nr;
	struct pass_reader reader;
	const void *record;
	int status;
	size_t row;

	*nr = nr_of(patterns);
	*maps = xreallocarray(NULL, *nr, sizeof(**maps));
	for (row = 0; row < *nr; row++)
		open_map(&(*maps)[row], pass, &patterns->rows[row]);
	status = pass_reader_open_again(&reader, pass, i);
	while (!status && (record = pass_next(&reader))) {
		keys->source = reader.source;
		add(patterns, row_of, nr_keys, record, &reader.measure, *maps, *nr);
	}
	pass_reader_close(&reader);
	free(row_of);
	return status;
}
