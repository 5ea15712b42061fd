// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/scaled.h"
#include "base/xalloc.h"
#include "trace/lru_curve.h"
#include "trace/reuse.h"

static const unsigned int parts[REUSE_PARTS] = { 5000, 9000, 9900, 9990, 9999, 10000 };
const char *const reuse_part_names[REUSE_PARTS] = { "p50", "p90", "p99", "p99_9", "p99_99", "max" };

/* --- accesses ------------------------------------------------------------------- */

void reuse_open(struct reuse *r, __u64 memory)
{
	*r = (struct reuse){ .accesses = { .threshold = PAGE_ACCESSES_ALL, .memory = memory } };
}

void reuse_free(struct reuse *r)
{
	page_accesses_free(&r->accesses);
	free(r->rows);
}

void reuse_add(struct reuse *r, __u32 key, struct page_access *access)
{
	memcpy(access->name + access->length, &key, sizeof(key));
	access->length += sizeof(key);
	page_accesses_add(&r->accesses, access);
}

/* --- by key --------------------------------------------------------------------- */

struct by_key {
	size_t begin, nr;	/* its accesses */
	__u32 blocks;
};

/* Of each block, its key, which is the last part of the name. */
static __u32 *keys_of_blocks(const struct page_numbers *pages)
{
	__u32 *keys = xreallocarray(NULL, pages->nr, sizeof(*keys));
	size_t i;

	for (i = 0; i < pages->nr; i++)
		keys[i] = page_name_end(pages, i);
	return keys;
}

/*
 * Returns the accesses in the order of their keys, those of a key in their order; the blocks of
 * each key are numbered from 0.
 */
static __u32 *divide(struct page_accesses *a, struct by_key *keys, size_t nr_keys)
{
	__u32 *key_of = keys_of_blocks(&a->pages), *number_of, *sorted;
	size_t i, sum = 0, nr = a->pages.nr;

	page_accesses_end(a);
	number_of = xreallocarray(NULL, nr, sizeof(*number_of));
	for (i = 0; i < nr; i++)
		number_of[i] = keys[key_of[i]].blocks++;
	for (i = 0; i < a->nr; i++)
		keys[key_of[ACCESS_PAGE(a->at[i])]].nr++;
	for (i = 0; i < nr_keys; i++) {
		keys[i].begin = sum;
		sum += keys[i].nr;
		keys[i].nr = 0;
	}
	sorted = xreallocarray(NULL, a->nr, sizeof(*sorted));
	for (i = 0; i < a->nr; i++) {
		__u32 block = ACCESS_PAGE(a->at[i]);
		struct by_key *its = &keys[key_of[block]];

		sorted[its->begin + its->nr++] = number_of[block] << 1 | ACCESS_IS_WRITE(a->at[i]);
	}
	free(number_of);
	free(key_of);
	return sorted;
}

/* Adds the distances of one key's accesses to its row. */
static void add_key(struct reuse_row *row, __u32 *accesses, const struct by_key *key)
{
	const struct page_accesses its = { .at = accesses + key->begin, .nr = key->nr, .nr_pages = key->blocks };
	struct lru_curve curve;
	size_t i;

	lru_curve_make(&curve, &its, NULL);
	for (i = 1; i <= curve.nr; i++)
		if (curve.hits[i].all > curve.hits[i - 1].all)
			distribution_add(&row->all, i, curve.hits[i].all - curve.hits[i - 1].all);
	row->accesses += key->nr;
	row->blocks += key->blocks;
	lru_curve_free(&curve);
}

static __u64 scaled(__u64 n, double rate)
{
	return n / rate + 0.5;
}

static void finish_row(struct reuse_row *row, double rate)
{
	unsigned int i;

	distribution_percentiles(&row->all, parts, REUSE_PARTS, row->distances);
	distribution_free(&row->all);
	for (i = 0; i < REUSE_PARTS; i++)
		row->distances[i] = scaled(row->distances[i], rate);
	row->accesses = scaled(row->accesses, rate);
	row->blocks = scaled(row->blocks, rate);
}

void reuse_finish(struct reuse *r, const __u32 *row_of, size_t nr_keys, size_t nr)
{
	struct by_key *keys = xchecked(calloc(nr_keys + 1, sizeof(*keys)));
	__u32 *accesses = divide(&r->accesses, keys, nr_keys);
	size_t i;

	r->nr = nr;
	r->rows = xchecked(calloc(nr + 1, sizeof(*r->rows)));
	for (i = 0; i < nr_keys; i++)
		if (keys[i].nr)
			add_key(&r->rows[row_of[i]], accesses, &keys[i]);
	for (i = 0; i < nr; i++)
		finish_row(&r->rows[i], reuse_rate(r));
	free(accesses);
	free(keys);
}

/* --- output --------------------------------------------------------------------- */

static double no_reuse_percent(const struct reuse_row *row)
{
	return 100.0 * row->blocks / row->accesses;
}

void reuse_text(const struct reuse_row *row)
{
	char cell[SCALED];
	unsigned int i;

	if (!row->accesses)
		return;
	printf("%14s", scaled_number(cell, row->accesses));
	printf("%9s%8.1f%%", scaled_number(cell, row->blocks), no_reuse_percent(row));
	for (i = 0; i < REUSE_PARTS; i++)
		printf("%8s", row->distances[i] ? scaled_number(cell, row->distances[i]) : "-");
	putchar('\n');
}

json_t *reuse_json(const struct reuse_row *row)
{
	json_t *object, *distances;
	unsigned int i;

	if (!row->accesses)
		return json_null();
	object = json_object();
	distances = row->distances[0] ? json_object() : json_null();
	json_put(object, "accesses", json_integer(row->accesses));
	json_put(object, "blocks", json_integer(row->blocks));
	json_put(object, "no_reuse_percent", json_real(no_reuse_percent(row)));
	for (i = 0; row->distances[0] && i < REUSE_PARTS; i++)
		json_put(distances, reuse_part_names[i], json_integer(row->distances[i]));
	json_put(object, "distance_blocks", distances);
	return object;
}

void reuse_csv_header(void)
{
	unsigned int i;

	fputs("reuse_accesses,reuse_blocks,", stdout);
	for (i = 0; i < REUSE_PARTS; i++)
		printf("reuse_distance_%s_blocks,", reuse_part_names[i]);
}

void reuse_csv(const struct reuse_row *row)
{
	unsigned int i;

	printf("%llu,%llu,", (unsigned long long)row->accesses, (unsigned long long)row->blocks);
	for (i = 0; i < REUSE_PARTS; i++) {
		if (row->distances[i])
			printf("%llu", (unsigned long long)row->distances[i]);
		putchar(',');
	}
}

void reuse_text_rate(const struct reuse *r)
{
	if (reuse_rate(r) < 1)
		printf("%sblocks are sampled, 1 in %.0f%s: the figures of reuse are estimates (more with --memory)\n",
		       CLI_YELLOW, 1 / reuse_rate(r), CLI_PLAIN);
}
