// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/xalloc.h"
#include "cmd/cache_sim_pass.h"
#include "cmd/durability_pass.h"
#include "cmd/profile_vm.h"
#include "cmd/report_sections.h"
#include "report/places.h"
#include "trace/cache_sim_report.h"
#include "trace/categories.h"
#include "vm/drive_report.h"
#include "vm/guest_sheet.h"

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

/* --- drives --------------------------------------------------------------------- */

struct drives {
	const struct pass *pass;
	const struct grid *grid;
	struct places *places;	/* by drive */
};

static void add_place(void *data, size_t drive, bool write, const struct guest_part *part,
		      const struct measure *m)
{
	const struct drives *d = data;

	places_add(&d->places[drive], d->grid, grid_bucket(d->grid, pass_wall(d->pass, m->time)), write,
		   part->guest, part->guest_length, m->weight);
}

static void put_places(json_t *found, const struct drives *d)
{
	json_t *drive, *positions;
	size_t i;

	json_array_foreach(json_object_get(found, "drives"), i, drive) {
		positions = json_object();
		places_json(&d->places[i], d->grid, positions);
		json_put(drive, "positions", positions);
	}
}

static int read_drives(struct pass *p, struct drives *d, struct drive_report *report,
		       struct drive_profile *profile, json_t *document)
{
	int status;
	size_t i;

	d->places = xchecked(calloc(profile->nr + 1, sizeof(*d->places)));
	profile->placed = add_place;
	profile->data = d;
	status = profile_vm_read(p, true, profile, &report->basis);
	if (!status) {
		json_t *found = drive_report_json(report);

		put_places(found, d);
		json_put(document, "drives", found);
	}
	for (i = 0; i < profile->nr; i++)
		places_free(&d->places[i]);
	free(d->places);
	return status;
}

static json_t *no_drives(const json_t *machine)
{
	json_t *found = json_object(), *name = json_object_get(machine, "name");

	json_put(found, "vm", json_is_string(name) ? json_incref(name) : json_string("-"));
	json_put(found, "drives", json_array());
	return found;
}

int report_drives(struct pass *p, const struct grid *g, json_t *document)
{
	const json_t *machine = json_object_get(p->check.metadata.document, "vm");
	struct guest_images images = { .nr = 0 };
	struct drives d = { .pass = p, .grid = g };
	struct drive_report report = { .machine = machine };
	struct drive_profile profile;
	int status;

	if (!json_is_object(machine) || pass_find(p, &category_fs) == p->nr) {
		json_put(document, "drives", json_null());
		return CLI_OK;
	}
	if (!guest_sheets_load(&images, p->trace))
		p->check.damaged = true;
	if (!images.nr) {
		json_put(document, "drives", no_drives(machine));
		guest_images_free(&images);
		return CLI_OK;
	}
	drive_profile_open(&profile, &images, 0);
	report.profile = &profile;
	status = read_drives(p, &d, &report, &profile, document);
	drive_profile_free(&profile);
	return status;
}
