// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "cmd/cache_sim_pass.h"
#include "cmd/durability_pass.h"
#include "cmd/report_sections.h"
#include "trace/cache_sim_report.h"
#include "trace/categories.h"

/* --- caches --------------------------------------------------------------------- */

static int simulate(struct pass *p, size_t i, json_t *simulations)
{
	struct cache_sim s = {
		.accesses = { .threshold = PAGE_ACCESSES_ALL, .memory = REPORT_CACHE_MEMORY },
	};
	struct basis basis;
	unsigned int policy;
	int status = cache_sim_pass_read(p, i, true, &s, &basis);

	for (policy = 0; policy < CACHE_POLICIES; policy++)
		s.policies[policy] = true;
	if (!status) {
		cache_sim_run(&s);
		json_add(simulations, cache_sim_json(&s, p->at[i].category->name, &basis));
	}
	cache_sim_free(&s);
	return status;
}

static int look_at_cache(struct pass *p, size_t i, json_t *to)
{
	struct page_cache c = { .memory = REPORT_CACHE_MEMORY };
	struct basis basis;
	int status = cache_sim_pass_look(p, i, true, &c, &basis);
	json_t *found, *pairs;

	if (!status && basis.records) {
		found = page_cache_json(&c, &basis);
		pairs = json_object_get(found, "reclaimed");
		while (json_array_size(pairs) > REPORT_PAIRS)
			json_array_remove(pairs, json_array_size(pairs) - 1);
		json_put(to, "page_cache", found);
	}
	page_cache_free(&c);
	return status;
}

int report_cache_sim(struct pass *p, json_t *document)
{
	size_t found[CACHE_SIM_CATEGORIES], nr = cache_sim_pass_categories(p, found), i;
	size_t cache = pass_find(p, &category_cache);
	json_t *object = json_object(), *simulations = json_array();
	int status = CLI_OK;

	for (i = 0; !status && i < nr; i++)
		status = simulate(p, found[i], simulations);
	if (!status && cache != p->nr)
		status = look_at_cache(p, cache, object);
	json_put(object, "simulations", simulations);
	json_put(document, "cache_sim", object);
	return status;
}

/* --- durability ----------------------------------------------------------------- */

int report_durability(struct pass *p, const struct grid *g, json_t *document)
{
	struct durability_pass d = { .pass = p, .again = true, .top = REPORT_FILES };
	__u64 times[GRID_BUCKETS], ahead = pass_origin(p) - p->check.metadata.begin.monotonic;
	json_t *found;
	int status;
	size_t i;

	if (!durability_pass_can(p)) {
		json_put(document, "durability", json_null());
		return CLI_OK;
	}
	for (i = 0; i < g->nr; i++)
		times[i] = g->begin + (i + 1) * g->width - ahead;
	d.times = times;
	d.nr_times = g->nr;
	status = durability_pass_read(&d);
	if (!status) {
		found = durability_pass_json(&d);
		json_put(found, "over_time", durability_points_json(&d));
		json_put(document, "durability", found);
	}
	durability_pass_free(&d);
	return status;
}
