// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/scaled.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "trace/key_text.h"
#include "trace/pattern_report.h"
#include "vm/drive_report.h"

#define CALLS_HEADING	"        CALLS FAILED    AVG    MIN    P50    P90    P99  P99.9 P99.99    MAX"

static double average(const struct drive_calls *c)
{
	return (double)c->latency.total / c->calls;
}

static const char *name_of(const json_t *machine)
{
	const char *name = json_string_value(json_object_get(machine, "name"));

	return name ? name : "-";
}

/* --- text ----------------------------------------------------------------------- */

static void put_calls(const struct drive_calls *c, unsigned int kind)
{
	char cell[SCALED];
	size_t i;

	printf("%-5s%8s", drive_kinds[kind], scaled_number(cell, c->calls));
	printf("%7s", scaled_number(cell, c->failed));
	if (c->calls) {
		printf("%7s", scaled_time(cell, average(c)));
		printf("%7s", scaled_time(cell, c->latency.least));
		for (i = 0; i < STATS_PERCENTILES; i++)
			printf("%7s", scaled_time(cell, c->percentiles[i]));
		printf("%7s", scaled_time(cell, c->latency.most));
	}
	putchar('\n');
}

static void put_heading(const char *title, const char *columns)
{
	printf("\n%s%-32s%s\n%s%s\n", CLI_BOLD, "DRIVE", title, columns, CLI_PLAIN);
}

static void orders_table(const struct drive_profile *p, const char *title, const char *columns,
			 void (*put)(const struct pattern_row *row, unsigned int kind))
{
	unsigned int kind;
	size_t i;

	put_heading(title, columns);
	for (i = 0; i < p->nr; i++) {
		if (!pattern_total(&p->patterns.rows[i]).count)
			continue;
		key_text_put_line(p->drives[i].name);
		for (kind = 0; kind < PATTERN_KINDS; kind++)
			if (p->patterns.rows[i].kinds[kind].count)
				put(&p->patterns.rows[i], kind);
	}
}

static void calls_table(const struct drive_profile *p)
{
	unsigned int kind;
	size_t i;

	put_heading("             LATENCY OF CALLS", CALLS_HEADING);
	for (i = 0; i < p->nr; i++) {
		const struct drive *d = &p->drives[i];

		if (drive_is_idle(d))
			continue;
		key_text_put_line(d->name);
		for (kind = 0; kind < DRIVE_KINDS; kind++)
			if (d->kinds[kind].calls || d->kinds[kind].failed)
				put_calls(&d->kinds[kind], kind);
	}
}

static void reuse_table(const struct drive_profile *p)
{
	size_t i;

	put_heading(REUSE_TITLE, REUSE_HEADING);
	for (i = 0; i < p->nr; i++) {
		if (!p->reuse.rows[i].accesses)
			continue;
		key_text_put_line(p->drives[i].name);
		reuse_text(&p->reuse.rows[i]);
	}
	reuse_text_rate(&p->reuse);
}

static void put_left_out(__u64 n, const char *what)
{
	if (n)
		printf("left out: %llu %s\n", (unsigned long long)n, what);
}

static void put_title(const struct drive_report *r)
{
	const struct drive_profile *p = r->profile;
	char *name = text_guard(name_of(r->machine), strlen(name_of(r->machine)), "");
	__u64 calls[DRIVE_KINDS] = { 0 }, empty = 0, tables = 0, unknown = 0;
	unsigned int kind;
	size_t i;

	for (i = 0; i < p->nr; i++) {
		for (kind = 0; kind < DRIVE_KINDS; kind++)
			calls[kind] += p->drives[i].kinds[kind].calls;
		empty += p->drives[i].empty;
		tables += p->drives[i].tables;
		unknown += p->drives[i].unknown;
	}
	printf("%s%s%s: %llu reads, %llu writes, %llu flushes\n", CLI_BOLD, name, CLI_PLAIN,
	       (unsigned long long)calls[DRIVE_READ], (unsigned long long)calls[DRIVE_WRITE],
	       (unsigned long long)calls[DRIVE_FLUSH]);
	free(name);
	put_left_out(empty, "calls that moved nothing");
	put_left_out(tables, "accesses to tables of the images");
	put_left_out(unknown, "accesses to places whose use is not known");
	put_left_out(p->others, "calls on other files");
	for (i = 0; i < p->nr; i++) {
		name = text_shorten(p->drives[i].name, KEY_TEXT_WIDTH - strlen("no calls: "));
		if (drive_is_idle(&p->drives[i]))
			printf("no calls: %s\n", name);
		free(name);
	}
}

void drive_report_text(const struct drive_report *r)
{
	const struct drive_profile *p = r->profile;
	bool any = false;
	size_t i;

	put_title(r);
	for (i = 0; i < p->nr; i++)
		any |= !drive_is_idle(&p->drives[i]);
	if (p->patterns.count) {
		orders_table(p, PATTERN_ORDERS_TITLE, PATTERN_ORDERS_HEADING, pattern_report_orders);
		orders_table(p, PATTERN_SIZES_TITLE, PATTERN_SIZES_HEADING, pattern_report_sizes);
	}
	if (any)
		calls_table(p);
	if (p->with_reuse && p->patterns.count)
		reuse_table(p);
	basis_text(&r->basis);
}

/* --- JSON ----------------------------------------------------------------------- */

static void add_latency(json_t *object, const char *prefix, const struct drive_calls *c)
{
	const struct {
		const char *name;
		json_t *value;
	} parts[] = {
		{ "avg", c->calls ? json_real(average(c)) : json_null() },
		{ "min", c->calls ? json_integer(c->latency.least) : json_null() },
		{ "max", c->calls ? json_integer(c->latency.most) : json_null() },
	};
	char *name;
	size_t i;

	for (i = 0; i < STATS_PERCENTILES; i++) {
		name = xasprintf("%s%s_ns", prefix, stats_part_names[i]);
		json_put(object, name, c->calls ? json_integer(c->percentiles[i]) : json_null());
		free(name);
	}
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		name = xasprintf("%s%s_ns", prefix, parts[i].name);
		json_put(object, name, parts[i].value);
		free(name);
	}
}

static json_t *calls_json(const struct drive_calls *c)
{
	json_t *object = json_object();

	json_put(object, "calls", json_unsigned(c->calls));
	json_put(object, "failed", json_unsigned(c->failed));
	add_latency(object, "latency_", c);
	return object;
}

static json_t *images_json(const struct drive_profile *p, size_t drive)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < p->images.nr; i++)
		if (p->drive_of[i] == drive)
			json_add(array, json_string(p->images.at[i].file));
	return array;
}

static json_t *uses_json(const struct drive *d)
{
	json_t *array = json_array();
	unsigned int kind;
	size_t i;

	for (i = 0; i < d->nr_uses; i++) {
		json_t *use = json_object();

		json_put(use, "use", json_string(d->uses[i].use));
		for (kind = 0; kind < PATTERN_KINDS; kind++) {
			json_t *its = json_object();

			json_put(its, "parts", json_unsigned(d->uses[i].parts[kind]));
			json_put(its, "bytes", json_unsigned(d->uses[i].bytes[kind]));
			json_put(use, drive_kinds[kind], its);
		}
		json_add(array, use);
	}
	return array;
}

static json_t *drive_json(const struct drive_profile *p, size_t i)
{
	const struct drive *d = &p->drives[i];
	json_t *object = json_object(), *its;
	unsigned int kind;

	json_put(object, "drive", json_string(d->name));
	json_put(object, "images", images_json(p, i));
	for (kind = 0; kind < DRIVE_KINDS; kind++) {
		its = calls_json(&d->kinds[kind]);
		if (kind < PATTERN_KINDS)
			json_put(its, "accesses", pattern_report_kind_json(&p->patterns.rows[i].kinds[kind]));
		json_put(object, drive_kinds[kind], its);
	}
	if (p->with_reuse)
		json_put(object, "reuse", reuse_json(&p->reuse.rows[i]));
	json_put(object, "empty", json_unsigned(d->empty));
	json_put(object, "tables", json_unsigned(d->tables));
	json_put(object, "unknown", json_unsigned(d->unknown));
	json_put(object, "uses", uses_json(d));
	return object;
}

json_t *drive_report_json(const struct drive_report *r)
{
	const struct drive_profile *p = r->profile;
	json_t *object = json_object(), *drives = json_array();
	size_t i;

	json_put(object, "vm", json_string(name_of(r->machine)));
	json_put(object, "pid", json_integer(json_integer_value(json_object_get(r->machine, "pid"))));
	json_put(object, "other_calls", json_unsigned(p->others));
	basis_json(object, &r->basis);
	if (p->with_reuse)
		json_put(object, "reuse_blocks_percent", json_real(100 * reuse_rate(&p->reuse)));
	for (i = 0; i < p->nr; i++)
		json_add(drives, drive_json(p, i));
	json_put(object, "drives", drives);
	return object;
}

/* --- CSV ------------------------------------------------------------------------ */

static void add_orders(json_t *row, const struct pattern_kind *k)
{
	unsigned int i;

	json_put(row, "accesses", k ? json_unsigned(k->count) : json_null());
	json_put(row, "bytes", k ? json_unsigned(k->bytes) : json_null());
	for (i = 0; i <= PATTERN_ORDERS; i++)
		json_put(row, pattern_orders[i], k ? json_unsigned(k->orders[i].count) : json_null());
}

static json_t *csv_row(const struct drive_report *r, size_t i, unsigned int kind)
{
	const struct drive_profile *p = r->profile;
	const struct drive *d = &p->drives[i];
	json_t *row = json_object();

	json_put(row, "drive", json_string(d->name));
	json_put(row, "kind", json_string(drive_kinds[kind]));
	json_put(row, "calls", json_unsigned(d->kinds[kind].calls));
	json_put(row, "failed", json_unsigned(d->kinds[kind].failed));
	add_latency(row, "latency_", &d->kinds[kind]);
	add_orders(row, kind < PATTERN_KINDS ? &p->patterns.rows[i].kinds[kind] : NULL);
	json_put(row, "empty", json_unsigned(d->empty));
	json_put(row, "tables", json_unsigned(d->tables));
	json_put(row, "unknown", json_unsigned(d->unknown));
	basis_json_row(row, &r->basis);
	return row;
}

void drive_report_csv(const struct drive_report *r)
{
	bool begun = false;
	unsigned int kind;
	size_t i;
	json_t *row;

	for (i = 0; i < r->profile->nr; i++) {
		for (kind = 0; kind < DRIVE_KINDS; kind++) {
			const struct drive_calls *c = &r->profile->drives[i].kinds[kind];

			if (!c->calls && !c->failed)
				continue;
			row = csv_row(r, i, kind);
			if (!begun)
				json_csv_header(row);
			json_csv_row(row);
			json_decref(row);
			begun = true;
		}
	}
}
