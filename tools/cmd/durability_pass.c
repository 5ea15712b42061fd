// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/xalloc.h"
#include "cmd/durability_pass.h"
#include "trace/categories.h"
#include "trace/durable_version.h"
#include "trace/sources.h"

#define POINT_STEPS	10000000	/* files and ranges, for all points: a second */

const struct category *const durability_needs[] = { &category_fs, &category_block, &category_cache, NULL };

bool durability_pass_can(const struct pass *p)
{
	return pass_find(p, &category_fs) != p->nr;
}

bool durability_is_sure(const struct durability_pass *d)
{
	const struct basis *b = &d->basis;

	return !b->lost && !b->missed && !b->unreadable && !b->sampled;
}

enum durable_state durability_state(const struct durability_pass *d, const struct durable_range *r)
{
	return r->state == DURABLE_SAFE && !durability_is_sure(d) ? DURABLE_UNKNOWN : r->state;
}

__u64 durability_at_risk(const struct durability_pass *d)
{
	__u64 sum = 0;
	unsigned int state;

	for (state = 0; state < DURABLE_SAFE; state++)
		sum += d->sums.bytes[state];
	return sum;
}

/* --- points --------------------------------------------------------------------- */

static void count_point(const struct durable_range *r, void *data)
{
	struct durability_point *point = data;

	if (r->state == DURABLE_SAFE)
		point->safe += r->end - r->begin;
	else
		point->at_risk += r->end - r->begin;
}

/* Adds the point, unless that would take more than its share of all steps. */
static void add_point(struct durability_pass *d, __u64 at, size_t number)
{
	__u64 cost = d->durable.nr + d->durable.extents;
	struct durability_point point = { .at = at };
	size_t i;

	if (d->steps + cost > POINT_STEPS / d->nr_times * (number + 1) + POINT_STEPS % d->nr_times)
		return;
	d->steps += cost;
	durable_finish(&d->durable);
	for (i = 0; i < d->durable.nr; i++) {
		const struct durable_file *f = &d->durable.files[i];

		if (f->name == DURABLE_NAME_REMOVED)
			continue;
		durable_ranges(&d->durable, f, count_point, &point);
		point.at_risk += f->unplaced;
	}
	d->points[d->nr_points++] = point;
}

/* Adds the points before @end. @next: the first that may be. Returns the next one. */
static size_t add_points(struct durability_pass *d, __u64 end, size_t next)
{
	for (; next < d->nr_times && d->times[next] < end; next++)
		add_point(d, d->times[next], next);
	return next;
}

/* What rests on events that are missing is at risk, too. */
static void finish_points(struct durability_pass *d)
{
	size_t i;

	for (i = 0; i < d->nr_points && !durability_is_sure(d); i++)
		d->points[i].at_risk += d->points[i].safe;
	d->points[d->nr_points++] = (struct durability_point){ .at = d->at, .at_risk = durability_at_risk(d) };
}

/* --- reading -------------------------------------------------------------------- */

static void add(struct durability_pass *d, struct pass_reader *r, const void *record)
{
	if (r->category == &category_fs)
		durable_call(&d->durable, record, r->source, pass_wants(r, record));
	else if (r->category == &category_cache)
		durable_page(&d->durable, record, r->source, pass_wants(r, record));
	else
		durable_request(&d->durable, record, r->source);
}

static int open_all(struct durability_pass *d, struct pass_all *all)
{
	int status;
	size_t i;

	d->pass->needs = durability_needs;
	status = d->again ? pass_all_open_again(all, d->pass) : pass_all_open_whole(all, d->pass);
	for (i = 0; i < all->nr; i++) {
		d->durable.has_requests |= all->readers[i].category == &category_block;
		d->has_pages |= all->readers[i].category == &category_cache;
	}
	return status;
}

static int read_all(struct durability_pass *d)
{
	const struct metadata *m = &d->pass->check.metadata;
	const __u64 begin = m->begin.monotonic;
	struct pass_all all = { .nr = 0 };
	struct pass_reader *reader;
	const void *record;
	__u64 last = begin;
	size_t i, next = 0;
	int status;

	if (d->has_at)
		d->at = d->at_given.relative ? begin + d->at_given.ns : begin + d->at_given.ns - pass_origin(d->pass);
	status = open_all(d, &all);
	while (!status && (record = pass_all_next(&all, &reader))) {
		__u64 end = reader->measure.time + reader->measure.latency;

		if (d->has_at && end > d->at)
			continue;
		last = end > last ? end : last;
		next = add_points(d, end, next);
		add(d, reader, record);
	}
	for (i = 0; i < all.nr; i++)
		pass_reader_end(&all.readers[i], d->read, &d->basis);
	pass_all_free(&all);
	if (!d->has_at)
		d->at = m->end.monotonic ?: last;
	add_points(d, d->at, next);
	return status;
}

/* --- rows ----------------------------------------------------------------------- */

struct counting {
	const struct durability_pass *d;
	struct durability_row *row;
};

static void count_range(const struct durable_range *r, void *data)
{
	const struct counting *c = data;
	struct durability_row *row = c->row;

	row->bytes[durability_state(c->d, r)] += r->end - r->begin;
	if (r->since && c->d->at > r->since && c->d->at - r->since > row->longest)
		row->longest = c->d->at - r->since;
}

static const char *path_of(const struct durability_pass *d, const struct durable_file *f)
{
	const struct name *name = f->path ? names_find(&d->pass->names, f->path) : NULL;

	return name ? name->text : f->path ? "?" : "";
}

static void add_to_sums(struct durability_sums *sums, const struct durability_row *row)
{
	const struct durable_file *f = row->file;
	unsigned int state;

	sums->written += f->written;
	sums->syncs += f->syncs;
	sums->idle_syncs += f->idle_syncs;
	sums->failed_syncs += f->failed_syncs;
	if (row->longest > sums->longest)
		sums->longest = row->longest;
	if (f->name == DURABLE_NAME_REMOVED) {
		sums->removed += row->at_risk;
		return;
	}
	for (state = 0; state < DURABLE_STATES; state++)
		sums->bytes[state] += row->bytes[state];
}

static void fill_row(struct durability_pass *d, struct durability_row *row, struct durable_file *f)
{
	struct counting c = { d, row };
	unsigned int state;

	*row = (struct durability_row){ .file = f, .path = path_of(d, f), .longest = f->longest };
	durable_ranges(&d->durable, f, count_range, &c);
	row->bytes[DURABLE_UNKNOWN] += f->unplaced;
	for (state = 0; state < DURABLE_SAFE; state++)
		row->at_risk += row->bytes[state];
	distribution_percentiles(&f->exposures, stats_parts, STATS_PERCENTILES, row->percentiles);
	add_to_sums(&d->sums, row);
}

static int by_risk(const void *a, const void *b)
{
	const struct durability_row *x = a, *y = b;
	int order;

	if (x->at_risk != y->at_risk)
		return x->at_risk < y->at_risk ? 1 : -1;
	if (x->longest != y->longest)
		return x->longest < y->longest ? 1 : -1;
	order = strcmp(x->path, y->path);
	return order ? order : x->file->inode < y->file->inode ? -1 : x->file->inode > y->file->inode;
}

static bool is_shown(const struct durability_pass *d, const struct durable_file *f)
{
	if (d->shown)
		return !strcmp(path_of(d, f), d->shown);
	return f->writes || f->mapped_pages || f->unplaced || f->syncs || f->name == DURABLE_NAME_NEW ||
	       f->crowded;
}

static int make_rows(struct durability_pass *d)
{
	size_t i;

	durable_finish(&d->durable);
	d->rows = xreallocarray(NULL, d->durable.nr + 1, sizeof(*d->rows));
	for (i = 0; i < d->durable.nr; i++)
		if (is_shown(d, &d->durable.files[i]))
			fill_row(d, &d->rows[d->nr_rows++], &d->durable.files[i]);
	if (d->shown && !d->nr_rows) {
		cli_say_of(d->pass->trace, "has no write or sync of %s", d->shown);
		return CLI_FAILED;
	}
	qsort(d->rows, d->nr_rows, sizeof(*d->rows), by_risk);
	if (d->top && d->nr_rows > d->top) {
		d->hidden = d->nr_rows - d->top;
		d->nr_rows = d->top;
	}
	return CLI_OK;
}

int durability_pass_read(struct durability_pass *d)
{
	int status;

	d->durable.names = &d->pass->names;
	d->read = json_array();
	d->points = xreallocarray(NULL, d->nr_times + 1, sizeof(*d->points));
	status = read_all(d);
	if (!status)
		status = make_rows(d);
	finish_points(d);
	return status;
}

void durability_pass_free(struct durability_pass *d)
{
	durable_free(&d->durable);
	free(d->rows);
	free(d->points);
	json_decref(d->read);
}

/* --- JSON ----------------------------------------------------------------------- */

/* The bytes in each state, a member each. */
static void put_states(json_t *object, const __u64 bytes[DURABLE_STATES])
{
	unsigned int i;
	char *key;

	for (i = 0; i < DURABLE_STATES; i++) {
		key = xasprintf("%s_bytes", durable_state_names[i]);
		json_put(object, key, json_unsigned(bytes[i]));
		free(key);
	}
}

json_t *durability_row_json(const struct durability_row *row)
{
	const struct durable_file *f = row->file;
	bool known = f->exposures.nr || f->exposures.nr_wide;
	json_t *object = json_object();
	unsigned int i;
	char *key;

	json_put(object, "file", json_string(row->path));
	json_put(object, "host", f->source ? json_string(((const struct source *)f->source)->host) : json_null());
	json_put(object, "inode", json_unsigned(f->inode));
	json_put(object, "name", json_string(durable_name_names[f->name]));
	json_put(object, "at_risk_bytes", json_unsigned(row->at_risk));
	put_states(object, row->bytes);
	json_put(object, "longest_exposure_ns", json_unsigned(row->longest));
	for (i = 0; i < STATS_PERCENTILES; i++) {
		key = xasprintf("exposure_%s_ns", stats_part_names[i]);
		json_put(object, key, known ? json_unsigned(row->percentiles[i]) : json_null());
		free(key);
	}
	json_put(object, "writes", json_unsigned(f->writes));
	json_put(object, "written_bytes", json_unsigned(f->written));
	json_put(object, "mapped_pages", json_unsigned(f->mapped_pages));
	json_put(object, "syncs", json_unsigned(f->syncs));
	json_put(object, "idle_syncs", json_unsigned(f->idle_syncs));
	json_put(object, "failed_syncs", json_unsigned(f->failed_syncs));
	json_put(object, "followed", json_boolean(!f->crowded));
	return object;
}

/* Of all files, also of those that are not among the rows. */
static json_t *sums_json(const struct durability_pass *d)
{
	const struct durability_sums *s = &d->sums;
	json_t *object = json_object();

	json_put(object, "files", json_unsigned(d->nr_rows + d->hidden));
	put_states(object, s->bytes);
	json_put(object, "longest_exposure_ns", json_unsigned(s->longest));
	json_put(object, "written_bytes", json_unsigned(s->written));
	json_put(object, "syncs", json_unsigned(s->syncs));
	json_put(object, "idle_syncs", json_unsigned(s->idle_syncs));
	json_put(object, "failed_syncs", json_unsigned(s->failed_syncs));
	return object;
}

json_t *durability_pass_json(const struct durability_pass *d)
{
	json_t *document = json_object(), *files = json_array(), *file;
	size_t i;

	for (i = 0; i < d->nr_rows; i++) {
		file = durability_row_json(&d->rows[i]);
		json_put(file, "ranges", json_array());
		json_add(files, file);
	}
	json_put(document, "trace", json_shown(d->pass->trace));
	json_put(document, "at_ns", json_unsigned(pass_wall(d->pass, d->at)));
	json_put(document, "at_monotonic_ns", json_unsigned(d->at));
	json_put(document, "at_risk_bytes", json_unsigned(durability_at_risk(d)));
	json_put(document, "removed_bytes", json_unsigned(d->sums.removed));
	json_put(document, "async_writes", json_unsigned(d->durable.async_writes));
	json_put(document, "failed_requests", json_unsigned(d->durable.failed_requests));
	json_put(document, "not_followed", json_unsigned(d->durable.beyond));
	json_put(document, "all_files", sums_json(d));
	json_put(document, "files", files);
	json_put(document, "categories", json_incref(d->read));
	return document;
}

json_t *durability_points_json(const struct durability_pass *d)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < d->nr_points; i++) {
		json_add(array, json_unsigned(pass_wall(d->pass, d->points[i].at)));
		json_add(array, json_unsigned(d->points[i].at_risk));
	}
	return array;
}
