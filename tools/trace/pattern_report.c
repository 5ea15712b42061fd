// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/scaled.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "trace/key_text.h"
#include "trace/pattern_report.h"

static double percent(__u64 part, __u64 whole)
{
	return 100.0 * part / whole;
}

struct key_text pattern_row_keys(const struct patterns *p, const struct pattern_row *row)
{
	return (struct key_text){
		.table = &p->table, .key = row->key, .folded = row->folded,
		.command = p->with_command ? row->command : NULL,
	};
}

/* --- text ----------------------------------------------------------------------- */

/* "9.9%", "12%", "-" if there is no whole */
static void put_share(int width, __u64 part, __u64 whole)
{
	char cell[SCALED];
	double share = whole ? percent(part, whole) : 0;

	snprintf(cell, sizeof(cell), share && share < 9.95 ? "%.1f%%" : "%.0f%%", share);
	printf("%*s", width, whole ? cell : "-");
}

void pattern_report_orders(const struct pattern_row *row, unsigned int kind)
{
	static const int widths[PATTERN_ORDERS] = { 5, 7, 5, 7 };
	const struct pattern_kind *k = &row->kinds[kind];
	struct pattern_part total = pattern_total(row), followers = pattern_followers(k);
	char cell[SCALED];
	unsigned int i;

	printf("%-5s%8s", pattern_kinds[kind], scaled_number(cell, k->count));
	put_share(5, k->count, total.count);
	printf("%8s", scaled_size(cell, k->bytes));
	put_share(5, k->bytes, total.bytes);
	for (i = 0; i < PATTERN_ORDERS; i++)
		put_share(widths[i], k->orders[i].count, followers.count);
	for (i = 0; i < PATTERN_ORDERS; i++)
		put_share(widths[i], k->orders[i].bytes, followers.bytes);
	putchar('\n');
}

void pattern_report_sizes(const struct pattern_row *row, unsigned int kind)
{
	const struct pattern_kind *k = &row->kinds[kind];
	char cells[4][SCALED];
	unsigned int i;

	printf("%-5s%9s%9s%9s%9s", pattern_kinds[kind], scaled_size(cells[0], k->least),
	       scaled_size(cells[1], (double)k->bytes / k->count), scaled_size(cells[2], k->most),
	       scaled_size(cells[3], k->usual));
	put_share(6, k->usual_count, k->count);
	for (i = 0; i < PATTERN_ALIGNMENTS; i++)
		put_share(7, k->aligned[i], k->count);
	putchar('\n');
}

static void table(const struct patterns *p, const char *top, const char *columns,
		  void (*put)(const struct pattern_row *row, unsigned int kind))
{
	char *heading = key_text_heading(p->table.keys);
	unsigned int kind;
	size_t i;

	printf("\n%s%-*s%s\n%s%s\n", CLI_BOLD, 32, heading, top, columns, CLI_PLAIN);
	free(heading);
	for (i = 0; i < p->nr; i++) {
		const struct key_text k = pattern_row_keys(p, &p->rows[i]);
		char *label = key_text(&k);

		key_text_put_line(label);
		free(label);
		for (kind = 0; kind < PATTERN_KINDS; kind++)
			if (p->rows[i].kinds[kind].count)
				put(&p->rows[i], kind);
	}
}

static void reuse_table(const struct pattern_report *r)
{
	char *heading = key_text_heading(r->patterns->table.keys);
	size_t i;

	printf("\n%s%-*s%s\n%s%s\n", CLI_BOLD, 32, heading, REUSE_TITLE, REUSE_HEADING, CLI_PLAIN);
	free(heading);
	for (i = 0; i < r->patterns->nr; i++) {
		const struct key_text k = pattern_row_keys(r->patterns, &r->patterns->rows[i]);
		char *label;

		if (!r->reuse->rows[i].accesses)
			continue;
		label = key_text(&k);
		key_text_put_line(label);
		free(label);
		reuse_text(&r->reuse->rows[i]);
	}
}

/* What is in no share. */
static void put_left_out(const struct patterns *p)
{
	const struct {
		__u64 n;
		const char *what;
	} parts[] = {
		{ p->failed, "failed" }, { p->empty, "moved nothing" },
		{ p->unplaced, "of pipes, sockets, eventfds ..." },
	};
	char *line = NULL;
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char *part = xasprintf("%llu %s", (unsigned long long)parts[i].n,
				       parts[i].what);

		if (parts[i].n)
			line = text_append(line, ", ", part);
		free(part);
	}
	if (line)
		printf("left out: %s\n", line);
	free(line);
}

void pattern_report_text(const struct pattern_report *r)
{
	const struct patterns *p = r->patterns;
	struct pattern_part sum = { 0 }, total;
	char size[SCALED];
	size_t i;

	for (i = 0; i < p->nr; i++) {
		total = pattern_total(&p->rows[i]);
		sum.count += total.count;
		sum.bytes += total.bytes;
	}
	printf("%s%s%s: %llu reads and writes, %s\n", CLI_BOLD, r->category, CLI_PLAIN,
	       (unsigned long long)sum.count, scaled_size(size, sum.bytes));
	put_left_out(p);
	if (p->nr) {
		table(p, PATTERN_ORDERS_TITLE, PATTERN_ORDERS_HEADING, pattern_report_orders);
		table(p, PATTERN_SIZES_TITLE, PATTERN_SIZES_HEADING, pattern_report_sizes);
	}
	if (p->nr && r->reuse) {
		reuse_table(r);
		reuse_text_rate(r->reuse);
	}
	basis_text(&r->basis);
	if (r->basis.lost || r->basis.missed || r->basis.unreadable || r->basis.sampled)
		puts("an access whose predecessor is missing may count as random");
}

/* --- JSON ----------------------------------------------------------------------- */

static json_t *json_share(__u64 part, __u64 whole)
{
	return whole ? json_real(percent(part, whole)) : json_null();
}

static json_t *json_order(const struct pattern_kind *k, unsigned int order)
{
	struct pattern_part followers = pattern_followers(k);
	const struct pattern_part *part = &k->orders[order];
	json_t *object = json_object();

	json_put(object, "count", json_integer(part->count));
	json_put(object, "bytes", json_integer(part->bytes));
	if (order == PATTERN_FIRST)
		return object;
	json_put(object, "count_percent", json_share(part->count, followers.count));
	json_put(object, "bytes_percent", json_share(part->bytes, followers.bytes));
	return object;
}

static json_t *json_sizes(const struct pattern_kind *k)
{
	json_t *object = json_object();

	json_put(object, "avg", json_real((double)k->bytes / k->count));
	json_put(object, "min", json_integer(k->least));
	json_put(object, "max", json_integer(k->most));
	json_put(object, "usual", json_integer(k->usual));
	json_put(object, "usual_count", json_integer(k->usual_count));
	return object;
}

json_t *pattern_report_kind_json(const struct pattern_kind *k)
{
	json_t *object, *aligned;
	unsigned int i;

	if (!k->count)
		return json_null();
	object = json_object();
	aligned = json_object();
	json_put(object, "count", json_integer(k->count));
	json_put(object, "bytes", json_integer(k->bytes));
	for (i = 0; i <= PATTERN_ORDERS; i++)
		json_put(object, pattern_orders[i], json_order(k, i));
	json_put(object, "size_bytes", json_sizes(k));
	for (i = 0; i < PATTERN_ALIGNMENTS; i++) {
		char *name = xasprintf("%u", pattern_alignments[i]);

		json_put(aligned, name, json_integer(k->aligned[i]));
		free(name);
	}
	json_put(object, "aligned_to_bytes", aligned);
	return object;
}

json_t *pattern_report_json(const struct pattern_report *r)
{
	const struct patterns *p = r->patterns;
	json_t *object = json_object(), *rows = json_array();
	unsigned int kind;
	size_t i;

	json_put(object, "category", json_string(r->category));
	json_put(object, "failed", json_integer(p->failed));
	json_put(object, "empty", json_integer(p->empty));
	json_put(object, "unplaced", json_integer(p->unplaced));
	basis_json(object, &r->basis);
	if (r->reuse)
		json_put(object, "reuse_blocks_percent", json_real(100 * reuse_rate(r->reuse)));
	for (i = 0; i < p->nr; i++) {
		const struct key_text k = pattern_row_keys(p, &p->rows[i]);
		json_t *row = json_object();

		key_text_json(row, &k);
		json_put(row, "failed", json_integer(p->rows[i].failed));
		json_put(row, "empty", json_integer(p->rows[i].empty));
		for (kind = 0; kind < PATTERN_KINDS; kind++)
			json_put(row, pattern_kinds[kind], pattern_report_kind_json(&p->rows[i].kinds[kind]));
		if (r->reuse)
			json_put(row, "reuse", reuse_json(&r->reuse->rows[i]));
		if (r->maps)
			json_put(row, "map", i < r->nr_maps ? access_map_json(&r->maps[i]) : json_null());
		json_add(rows, row);
	}
	json_put(object, "rows", rows);
	return object;
}

/* --- CSV ------------------------------------------------------------------------ */

void pattern_report_csv_header(const struct stats_keys *keys, bool with_reuse)
{
	unsigned int i;

	fputs("category,", stdout);
	key_text_csv_header(keys);
	fputs("kind,count,bytes,", stdout);
	for (i = 0; i <= PATTERN_ORDERS; i++)
		printf("%s,%s_bytes,", pattern_orders[i], pattern_orders[i]);
	fputs("size_avg_bytes,size_min_bytes,size_max_bytes,size_usual_bytes,size_usual_count,", stdout);
	for (i = 0; i < PATTERN_ALIGNMENTS; i++)
		printf("aligned_%u_bytes,", pattern_alignments[i]);
	if (with_reuse)
		reuse_csv_header();
	puts("failed,empty,unplaced," BASIS_CSV_HEADER);
}

static void put_number(__u64 n)
{
	printf("%llu,", (unsigned long long)n);
}

static void csv_kind(const struct pattern_report *r, size_t number, unsigned int kind)
{
	const struct pattern_row *row = &r->patterns->rows[number];
	const struct key_text keys = pattern_row_keys(r->patterns, row);
	const struct pattern_kind *k = &row->kinds[kind];
	unsigned int i;

	printf("%s,", r->category);
	key_text_csv(&keys);
	printf("%s,", pattern_kinds[kind]);
	put_number(k->count);
	put_number(k->bytes);
	for (i = 0; i <= PATTERN_ORDERS; i++) {
		put_number(k->orders[i].count);
		put_number(k->orders[i].bytes);
	}
	printf("%.3f,", (double)k->bytes / k->count);
	put_number(k->least);
	put_number(k->most);
	put_number(k->usual);
	put_number(k->usual_count);
	for (i = 0; i < PATTERN_ALIGNMENTS; i++)
		put_number(k->aligned[i]);
	if (r->reuse)
		reuse_csv(&r->reuse->rows[number]);
	put_number(row->failed);
	put_number(row->empty);
	put_number(r->patterns->unplaced);
	basis_csv(&r->basis);
	putchar('\n');
}

void pattern_report_csv(const struct pattern_report *r)
{
	const struct patterns *p = r->patterns;
	unsigned int kind;
	size_t i;

	for (i = 0; i < p->nr; i++)
		for (kind = 0; kind < PATTERN_KINDS; kind++)
			if (p->rows[i].kinds[kind].count)
				csv_kind(r, i, kind);
}
