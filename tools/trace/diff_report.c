// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/scaled.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "trace/diff.h"
#include "trace/key_text.h"

static const struct metric {
	const char *text, *name;
	char *(*scaled)(char *out, double n);
} metrics[DIFF_METRICS] = {
	[DIFF_COUNT] = { "count/s", "count_per_s", scaled_number },
	[DIFF_BYTES] = { "bytes/s", "bytes_per_s", scaled_size },
	[DIFF_MEAN] = { "latency avg", "latency_avg_ns", scaled_time },
	[DIFF_P99] = { "latency p99", "latency_p99_ns", scaled_time },
};

static size_t nr_shown(const struct diff *d, bool all, size_t top)
{
	size_t nr = all ? d->nr : d->nr_changed;

	return top && top < nr ? top : nr;
}

static const char *only_in(const struct diff_key *k)
{
	return !k->count[DIFF_A] ? "B" : !k->count[DIFF_B] ? "A" : "";
}

static bool has_side(const struct diff_key *k, size_t metric, enum diff_side side)
{
	return metric == DIFF_COUNT || metric == DIFF_BYTES || k->count[side];
}

/* --- text ----------------------------------------------------------------------- */

static char *label_of(const struct diff *d, __u32 key)
{
	char *label = NULL;
	size_t i;

	for (i = 0; i < d->keys->nr; i++) {
		const char *text = diff_key_text(d, key, i);

		label = text_append(label, " ", *text ? text : "(none)");
	}
	return d->with_command ? text_append(label, " ", d->at[key].command) : label;
}

static void put_key_label(const struct diff *d, __u32 key)
{
	char *label = label_of(d, key);

	key_text_put_first(label);
	free(label);
}

static const char *put_change(char *out, const struct diff_key *k, const struct diff_values *v)
{
	double percent = 100 * diff_change(v);

	if (*only_in(k))
		snprintf(out, SCALED, "only in %s", only_in(k));
	else if (!isfinite(percent) || fabs(percent) >= 1e6)
		snprintf(out, SCALED, "%s", percent < 0 ? "less" : "more");
	else
		snprintf(out, SCALED, "%+.1f%%", percent);
	return out;
}

static void put_metric(const struct diff_key *k, size_t m)
{
	const struct diff_values *v = &k->at[m];
	char cell[SCALED], change[SCALED];
	int side;

	printf("%s%-13s%s", v->changed ? CLI_BOLD : "", metrics[m].text, v->changed ? CLI_PLAIN : "");
	for (side = 0; side < DIFF_SIDES; side++) {
		bool has = has_side(k, m, side);

		printf("%10s", has ? metrics[m].scaled(cell, v->value[side]) : "-");
		printf("%9s", has ? metrics[m].scaled(cell, series_deviation(&v->shown[side])) : "-");
	}
	printf("%11s%s\n", v->known ? put_change(change, k, v) : "-", v->changed ? "" : "~");
}

/* A line for each metric that changed, or for all. */
static void put_key(const struct diff *d, __u32 key, bool all)
{
	const struct diff_key *k = &d->at[key];
	bool first = true;
	size_t m;

	for (m = 0; m < DIFF_METRICS; m++) {
		if (!k->at[m].changed && (!all || !k->at[m].known))
			continue;
		if (first)
			put_key_label(d, key);
		else
			printf("%*s", KEY_TEXT_FIRST, "");
		first = false;
		put_metric(k, m);
	}
}

static void put_heading(const struct diff *d)
{
	char *columns = xasprintf("%-13s%10s%9s%10s%9s%11s", "WHAT", "A", "+-", "B", "+-", "CHANGE");
	char *name = key_text_heading(d->keys);

	if (strlen(name) < KEY_TEXT_FIRST)
		printf("\n%s%-*s%s%s\n", CLI_BOLD, KEY_TEXT_FIRST, name, columns, CLI_PLAIN);
	else
		printf("\n%s%s\n%*s%s%s\n", CLI_BOLD, name, KEY_TEXT_FIRST, "", columns, CLI_PLAIN);
	free(name);
	free(columns);
}

static void put_basis(const char *side, const struct basis *b)
{
	if (!b->lost && !b->missed && !b->unreadable && !b->sampled)
		return;
	printf("\nof %s:", side);
	basis_text(b);
}

void diff_text(const struct diff *d, bool all, size_t top)
{
	size_t nr = nr_shown(d, all, top), i;
	char cells[4][SCALED];

	printf("%s%s%s: A %s events in %s, B %s events in %s\n", CLI_BOLD, d->category, CLI_PLAIN,
	       scaled_number(cells[0], d->basis[DIFF_A].events),
	       scaled_time(cells[1], d->seconds[DIFF_A] * 1e9),
	       scaled_number(cells[2], d->basis[DIFF_B].events),
	       scaled_time(cells[3], d->seconds[DIFF_B] * 1e9));
	printf("%zu of %zu keys changed", d->nr_changed, d->nr);
	if (d->only[DIFF_A] || d->only[DIFF_B])
		printf("; %zu are only in A, %zu only in B", d->only[DIFF_A], d->only[DIFF_B]);
	putchar('\n');
	if (nr)
		put_heading(d);
	for (i = 0; i < nr; i++)
		put_key(d, d->order[i], all);
	if (nr < nr_shown(d, all, 0))
		printf("%zu more: see --top\n", nr_shown(d, all, 0) - nr);
	put_basis("A", &d->basis[DIFF_A]);
	put_basis("B", &d->basis[DIFF_B]);
}

/* --- JSON ----------------------------------------------------------------------- */

/* A number, or null if it is none. */
static json_t *json_known(bool known, double n)
{
	return known && isfinite(n) ? json_real(n) : json_null();
}

static json_t *json_metric(const struct diff_key *k, size_t m)
{
	const struct diff_values *v = &k->at[m];
	json_t *object = json_object();

	json_put(object, "a", json_known(has_side(k, m, DIFF_A), v->value[DIFF_A]));
	json_put(object, "a_deviation",
		 json_known(has_side(k, m, DIFF_A), series_deviation(&v->shown[DIFF_A])));
	json_put(object, "b", json_known(has_side(k, m, DIFF_B), v->value[DIFF_B]));
	json_put(object, "b_deviation",
		 json_known(has_side(k, m, DIFF_B), series_deviation(&v->shown[DIFF_B])));
	json_put(object, "change", json_known(v->known, diff_change(v)));
	json_put(object, "chance", json_known(v->known, v->chance));
	json_put(object, "changed", json_boolean(v->changed));
	return object;
}

static json_t *json_key(const struct diff *d, __u32 key)
{
	const struct diff_key *k = &d->at[key];
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < d->keys->nr; i++)
		json_put(object, stats_key_name(&d->keys->at[i]), json_string(diff_key_text(d, key, i)));
	if (d->with_command)
		json_put(object, "command", json_string(k->command));
	json_put(object, "changed", json_boolean(k->changed));
	json_put(object, "only_in", *only_in(k) ? json_string(only_in(k)) : json_null());
	json_put(object, "count_a", json_integer(k->count[DIFF_A]));
	json_put(object, "count_b", json_integer(k->count[DIFF_B]));
	for (i = 0; i < DIFF_METRICS; i++)
		json_put(object, metrics[i].name, json_metric(k, i));
	return object;
}

static json_t *json_side(const struct diff *d, enum diff_side side)
{
	json_t *object = json_object();

	json_put(object, "duration_s", json_real(d->seconds[side]));
	json_put(object, "count", json_integer(d->basis[side].events));
	json_put(object, "keys_only_here", json_integer(d->only[side]));
	basis_json(object, &d->basis[side]);
	return object;
}

json_t *diff_json(const struct diff *d, bool all, size_t top)
{
	json_t *object = json_object(), *rows = json_array();
	size_t nr = nr_shown(d, all, top), i;

	json_put(object, "category", json_string(d->category));
	json_put(object, "a", json_side(d, DIFF_A));
	json_put(object, "b", json_side(d, DIFF_B));
	json_put(object, "keys", json_integer(d->nr));
	json_put(object, "changed", json_integer(d->nr_changed));
	for (i = 0; i < nr; i++)
		json_add(rows, json_key(d, d->order[i]));
	json_put(object, "rows", rows);
	return object;
}

/* --- CSV ------------------------------------------------------------------------ */

void diff_csv_header(const struct diff *d)
{
	size_t i;

	fputs("category,", stdout);
	for (i = 0; i < d->keys->nr; i++)
		printf("%s,", stats_key_name(&d->keys->at[i]));
	if (stats_keys_have_command(d->keys))
		fputs("command,", stdout);
	puts("only_in,what,a,a_deviation,b,b_deviation,change,chance,changed,a_lost,a_missed,a_unreadable,a_sampled,b_lost,b_missed,b_unreadable,b_sampled");
}

static void put_text(const char *text)
{
	size_t length = strlen(text);
	char *field = xreallocarray(NULL, 4 * length + 2, 1);

	printf("%.*s,", (int)(csv_put(field, text, length) - field), field);
	free(field);
}

static void put_number(bool known, double n)
{
	if (known && isfinite(n))
		printf("%.9g", n);
	putchar(',');
}

static void csv_metric(const struct diff *d, __u32 key, size_t m)
{
	const struct diff_key *k = &d->at[key];
	const struct diff_values *v = &k->at[m];
	size_t i;
	int side;

	printf("%s,", d->category);
	for (i = 0; i < d->keys->nr; i++)
		put_text(diff_key_text(d, key, i));
	if (d->with_command)
		put_text(k->command);
	printf("%s,%s,", only_in(k), metrics[m].name);
	for (side = 0; side < DIFF_SIDES; side++) {
		put_number(has_side(k, m, side), v->value[side]);
		put_number(has_side(k, m, side), series_deviation(&v->shown[side]));
	}
	put_number(v->known, diff_change(v));
	put_number(v->known, v->chance);
	printf("%d,", v->changed);
	basis_csv(&d->basis[DIFF_A]);
	putchar(',');
	basis_csv(&d->basis[DIFF_B]);
	putchar('\n');
}

void diff_csv(const struct diff *d, bool all, size_t top)
{
	size_t nr = nr_shown(d, all, top), i, m;

	for (i = 0; i < nr; i++)
		for (m = 0; m < DIFF_METRICS; m++)
			if (all || d->at[d->order[i]].at[m].changed)
				csv_metric(d, d->order[i], m);
}
