// SPDX-License-Identifier: GPL-2.0
#include "base/cli.h"
#include "cmd/cache_sim_pass.h"
#include "trace/categories.h"
#include "trace/page_access.h"
#include "trace/record.h"

size_t cache_sim_pass_categories(const struct pass *p, size_t found[CACHE_SIM_CATEGORIES])
{
	size_t fs = pass_find(p, &category_fs), block = pass_find(p, &category_block), nr = 0;

	if (fs != p->nr)
		found[nr++] = fs;
	if (block != p->nr && (!nr || p->nr_named))
		found[nr++] = block;
	return nr;
}

static int open_reader(struct pass_reader *reader, struct pass *p, size_t i, bool again)
{
	return again ? pass_reader_open_again(reader, p, i) : pass_reader_open(reader, p, i);
}

int cache_sim_pass_read(struct pass *p, size_t i, bool again, struct cache_sim *s, struct basis *basis)
{
	struct page_access_fields fields;
	struct page_access access;
	struct pass_reader reader;
	const void *record;
	int status = open_reader(&reader, p, i, again);

	if (!status) {
		page_access_fields_open(&fields, reader.event, &p->sources);
		while ((record = pass_next(&reader)))
			if (page_access_of(&fields, record, &reader.measure, reader.source, &access))
				page_accesses_add(&s->accesses, &access);
		page_accesses_end(&s->accesses);
	}
	pass_reader_close(&reader);
	*basis = reader.basis;
	return status;
}

int cache_sim_pass_look(struct pass *p, size_t i, bool again, struct page_cache *c, struct basis *basis)
{
	struct page_access_fields fields;
	struct pass_reader reader;
	const void *record;
	int status = open_reader(&reader, p, i, again);

	if (!status) {
		page_access_fields_open(&fields, reader.event, &p->sources);
		while ((record = pass_next(&reader)))
			page_cache_add(c, &fields, record_field(reader.event, "comm"), record,
				       &reader.measure, reader.source);
	}
	pass_reader_close(&reader);
	*basis = reader.basis;
	return status;
}
