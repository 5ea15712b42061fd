// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/scaled.h"
#include "base/terminal.h"
#include "base/text.h"
#include "trace/cache_sim_report.h"

#define WIDTH		80
#define SIZE_WIDTH	9	/* of the first column */
#define CELL		6	/* of a ratio in percent */
#define COMMAND_WIDTH	24
#define KERNEL		"page-cache"	/* CSV: what stands for the policy */

const char *const cache_sim_policies[CACHE_POLICIES] = { "LRU", "FIFO", "ARC", "MIN" };
static const char *const ways[PAGE_CACHE_WAYS] = { "reads", "writes", "faults" };

/* --- numbers -------------------------------------------------------------------- */

/* Hits among all accesses, not only those of the sample. */
static __u64 all_hits(const struct cache_sim *s, struct hits hits, enum cache_of of)
{
	return cache_sim_ratio(s, hits, of) * cache_sim_accesses(s, of) + 0.5;
}

/* The hits of a cache that has room for all pages: all accesses but the first one to each page. */
static struct hits most_hits(const struct cache_sim *s)
{
	/* Reads among the first accesses are not counted apart, and are not asked for. */
	return (struct hits){ .all = s->kept.all - s->accesses.nr_pages };
}

static double share(__u64 part, __u64 all)
{
	return all ? (double)part / all : 0;
}

/* --- text ----------------------------------------------------------------------- */

/* Which part of the accesses the table has: only all, if all are reads, or none is. */
bool cache_sim_has_both(const struct cache_sim *s)
{
	return s->accesses.seen_reads && s->accesses.seen_reads < s->accesses.seen;
}

static unsigned int nr_policies(const struct cache_sim *s)
{
	unsigned int i, nr = 0;

	for (i = 0; i < CACHE_POLICIES; i++)
		nr += s->policies[i];
	return nr;
}

static unsigned int bar_width(const struct cache_sim *s)
{
	return WIDTH - SIZE_WIDTH - 3 - (cache_sim_has_both(s) ? 2 : 1) * (CELL * nr_policies(s) + 2);
}

static void put_heading(const struct cache_sim *s)
{
	unsigned int i, block, width = CELL * nr_policies(s);

	printf("\n%s%-*s  %*s", CLI_BOLD, SIZE_WIDTH, "HIT RATIO", width, "ALL, %");
	if (cache_sim_has_both(s))
		printf("  %*s", width, "READS, %");
	printf("%s\n%s%-*s", CLI_PLAIN, CLI_BOLD, SIZE_WIDTH, "CACHE");
	for (block = 0; block < (cache_sim_has_both(s) ? 2 : 1); block++) {
		fputs("  ", stdout);
		for (i = 0; i < CACHE_POLICIES; i++)
			if (s->policies[i])
				printf("%*s", CELL, cache_sim_policies[i]);
	}
	printf("%s\n", CLI_PLAIN);
}

static void put_ratios(const struct cache_sim *s, const struct cache_size *size, enum cache_of of)
{
	unsigned int i;

	fputs("  ", stdout);
	for (i = 0; i < CACHE_POLICIES; i++) {
		if (!s->policies[i])
			continue;
		if (size->pages)
			printf("%*.1f", CELL, 100 * cache_sim_ratio(s, size->hits[i], of));
		else
			printf("%*s", CELL, "-");
	}
}

static void repeat(const char *block, unsigned int nr)
{
	while (nr--)
		fputs(block, stdout);
}

/* A bar for the first policy, and a lighter one for what MIN has more. */
static void put_bar(const struct cache_sim *s, const struct cache_size *size)
{
	unsigned int width = bar_width(s), first = 0, length, best = 0;
	bool blocks = terminal_is_utf8();

	while (!s->policies[first])
		first++;
	length = cache_sim_ratio(s, size->hits[first], CACHE_ALL) * width + 0.5;
	if (s->policies[CACHE_MIN])
		best = cache_sim_ratio(s, size->hits[CACHE_MIN], CACHE_ALL) * width + 0.5;
	if (size->pages && (length || best)) {
		fputs("  ", stdout);
		repeat(blocks ? "█" : "#", length);
		repeat(blocks ? "░" : ".", best > length ? best - length : 0);
	}
	putchar('\n');
}

static void put_table(const struct cache_sim *s)
{
	char cell[SCALED];
	size_t i;

	put_heading(s);
	for (i = 0; i < s->nr; i++) {
		printf("%-*s", SIZE_WIDTH, scaled_size(cell, s->sizes[i].bytes));
		put_ratios(s, &s->sizes[i], CACHE_ALL);
		if (cache_sim_has_both(s))
			put_ratios(s, &s->sizes[i], CACHE_READS);
		put_bar(s, &s->sizes[i]);
	}
}

static void put_working_set(const struct cache_sim *s)
{
	char all[SCALED], read[SCALED], written[SCALED];

	printf("working set: %s, %s of it read, %s written\n"
	       "first accesses to a page, which miss in any cache: %.1f %%\n",
	       scaled_size(all, cache_sim_bytes(s, s->accesses.nr_pages)),
	       scaled_size(read, cache_sim_bytes(s, s->pages_read)),
	       scaled_size(written, cache_sim_bytes(s, s->pages_written)),
	       100 - 100 * cache_sim_ratio(s, most_hits(s), CACHE_ALL));
}

static void put_wanted(const struct cache_sim *s)
{
	char size[SCALED];

	if (!s->wanted)
		return;
	putchar('\n');
	if (s->wanted_bytes)
		printf("LRU has a hit ratio of %.10g %% with %s, %llu pages\n", s->wanted,
		       scaled_size(size, s->wanted_bytes), s->wanted_bytes >> PAGE_SHIFT);
	else
		printf("no cache has a hit ratio of %.10g %%: it is %.1f %% if all pages fit\n", s->wanted,
		       100 * cache_sim_ratio(s, most_hits(s), CACHE_ALL));
}

/* The largest error of LRU's ratios. */
static double worst(const struct cache_sim *s, enum cache_of of)
{
	double error = 0;
	size_t i;

	for (i = 0; i < s->nr; i++)
		if (s->sizes[i].pages && s->sizes[i].error[of] > error)
			error = s->sizes[i].error[of];
	return error;
}

static void put_sample(const struct cache_sim *s)
{
	if (s->accesses.threshold == PAGE_ACCESSES_ALL)
		return;
	if (!s->accesses.nr_pages) {
		printf("\n%snothing is known%s: the sample, %.4g %% of the pages, has none of them\n", CLI_YELLOW,
		       CLI_PLAIN, 100 * page_accesses_rate(&s->accesses));
		return;
	}
	printf("\n%sestimated%s from %.4g %% of the pages, %zu of them: with 95 %% probability,\n"
	       "LRU's ratios are within %.2g percentage points", CLI_YELLOW, CLI_PLAIN, 100 * page_accesses_rate(&s->accesses),
	       s->accesses.nr_pages, 100 * worst(s, CACHE_ALL));
	if (cache_sim_has_both(s))
		printf(", those of reads within %.2g", 100 * worst(s, CACHE_READS));
	putchar('\n');
}

/* As basis_text(), but that nothing here is scaled. */
static void put_basis(const struct basis *basis)
{
	struct basis b = *basis;

	b.sampled = 0;
	basis_text(&b);
	if (basis->sampled)
		printf("\n%ssampled %llu%s: records that stand for several events, of which the others are not known:\n"
		       "do not trust these hit ratios\n", CLI_YELLOW, basis->sampled, CLI_PLAIN);
}

void cache_sim_text(const struct cache_sim *s, const char *category, const struct basis *basis)
{
	printf("%s%s%s: %llu calls, %llu accesses to pages of 4 KiB, %llu of them reads\n", CLI_BOLD, category,
	       CLI_PLAIN, s->accesses.calls, s->accesses.seen, s->accesses.seen_reads);
	if (s->kept.all) {
		put_working_set(s);
		put_table(s);
		put_wanted(s);
	}
	put_sample(s);
	put_basis(basis);
}

static void put_pages(const char *what, __u64 pages, __u64 all)
{
	char size[SCALED];

	printf("%-28s%10llu%9s%7.1f %%\n", what, pages, scaled_size(size, pages * PAGE_BYTES),
	       100 * share(pages, all));
}

static void put_lookups(const struct page_cache *c)
{
	unsigned int i;

	printf("\n%s%-28s%10s%9s%9s%s\n", CLI_BOLD, "LOOKUPS", "PAGES", "HITS", "MISSES", CLI_PLAIN);
	for (i = 0; i < PAGE_CACHE_WAYS; i++) {
		__u64 hits = c->lookups[i].hits, all = hits + c->lookups[i].misses;

		if (all)
			printf("%-28s%10llu%7.1f %%%7.1f %%\n", ways[i], all, 100 * share(hits, all),
			       100 * share(all - hits, all));
	}
}

static void put_reads(const struct page_cache *c)
{
	__u64 all = c->asked + c->ahead;

	if (!all)
		return;
	printf("\n%s%-28s%10s%9s%9s%s\n", CLI_BOLD, "READ FROM THE DEVICE", "PAGES", "SIZE", "SHARE", CLI_PLAIN);
	put_pages("asked for", c->asked, all);
	put_pages("ahead, used later", c->ahead_used, all);
	put_pages("ahead, removed unused", c->ahead_removed, all);
	put_pages("ahead, not used so far", c->ahead - c->ahead_used - c->ahead_removed, all);
}

static void put_removals(const struct page_cache *c)
{
	__u64 all = 0;
	unsigned int i;

	for (i = 0; i < PAGE_CACHE_REMOVALS; i++)
		all += c->removed[i];
	if (!all)
		return;
	printf("\n%s%-28s%10s%9s%9s%s\n", CLI_BOLD, "REMOVED BY", "PAGES", "SIZE", "SHARE", CLI_PLAIN);
	for (i = 0; i < PAGE_CACHE_REMOVALS; i++)
		if (c->removed[i])
			put_pages(page_cache_removals[i], c->removed[i], all);
}

/* @number: as page_cache_command() takes it. */
static void put_command(const struct page_cache *c, __u32 number)
{
	char *command = page_cache_command(c, number);

	/* A name has 15 bytes, but each may be escaped. */
	printf("%-*.*s  ", COMMAND_WIDTH, COMMAND_WIDTH, command);
	free(command);
}

static void put_pairs(const struct page_cache *c, size_t top)
{
	struct page_cache_pair *pairs;
	size_t i, nr;
	__u64 rest = 0;

	pairs = page_cache_pairs(c, &nr);
	if (nr)
		printf("\n%s%-*s  %-*s  %10s%s\n", CLI_BOLD, COMMAND_WIDTH, "RECLAIMED BY", COMMAND_WIDTH,
		       "LAST USED BY", "PAGES", CLI_PLAIN);
	for (i = 0; i < nr; i++) {
		if (top && i >= top) {
			rest += pairs[i].pages;
			continue;
		}
		put_command(c, pairs[i].by);
		put_command(c, pairs[i].of);
		printf("%10llu\n", pairs[i].pages);
	}
	if (rest)
		printf("%-*s  %10llu\n", 2 * COMMAND_WIDTH + 2, "others", rest);
	free(pairs);
}

void page_cache_text(const struct page_cache *c, const struct basis *basis, size_t top)
{
	printf("%scache%s: what the page cache did\n", CLI_BOLD, CLI_PLAIN);
	put_lookups(c);
	put_reads(c);
	put_removals(c);
	put_pairs(c, top);
	if (c->unfollowed)
		printf("\n%snot followed%s: %llu pages of events; more memory is needed: --memory\n", CLI_YELLOW,
		       CLI_PLAIN, c->unfollowed);
	put_basis(basis);
}

/* --- JSON ----------------------------------------------------------------------- */

static json_t *json_policy(const struct cache_sim *s, const struct cache_size *size,
			   enum cache_policy policy)
{
	bool estimated = s->accesses.threshold < PAGE_ACCESSES_ALL && policy == CACHE_LRU;
	json_t *object = json_object();
	struct hits hits = size->hits[policy];

	json_put(object, "hits", json_integer(all_hits(s, hits, CACHE_ALL)));
	json_put(object, "hit_ratio", json_real(cache_sim_ratio(s, hits, CACHE_ALL)));
	json_put(object, "read_hits", json_integer(all_hits(s, hits, CACHE_READS)));
	json_put(object, "read_hit_ratio", json_real(cache_sim_ratio(s, hits, CACHE_READS)));
	json_put(object, "hit_ratio_error",
		 estimated ? json_real(size->error[CACHE_ALL]) : json_null());
	json_put(object, "read_hit_ratio_error",
		 estimated ? json_real(size->error[CACHE_READS]) : json_null());
	return object;
}

static json_t *json_sizes(const struct cache_sim *s)
{
	json_t *sizes = json_array();
	unsigned int p;
	size_t i;

	for (i = 0; i < s->nr; i++) {
		json_t *size = json_object();

		json_put(size, "cache_bytes", json_integer(s->sizes[i].bytes));
		for (p = 0; p < CACHE_POLICIES; p++)
			if (s->policies[p])
				json_put(size, cache_sim_policies[p], s->sizes[i].pages ?
					 json_policy(s, &s->sizes[i], p) : json_null());
		json_add(sizes, size);
	}
	return sizes;
}

json_t *cache_sim_json(const struct cache_sim *s, const char *category, const struct basis *basis)
{
	json_t *object = json_object();

	json_put(object, "category", json_string(category));
	json_put(object, "calls", json_integer(s->accesses.calls));
	json_put(object, "page_bytes", json_integer(PAGE_BYTES));
	json_put(object, "accesses", json_integer(s->accesses.seen));
	json_put(object, "reads", json_integer(s->accesses.seen_reads));
	json_put(object, "working_set_bytes", json_integer(cache_sim_bytes(s, s->accesses.nr_pages)));
	json_put(object, "read_set_bytes", json_integer(cache_sim_bytes(s, s->pages_read)));
	json_put(object, "written_set_bytes", json_integer(cache_sim_bytes(s, s->pages_written)));
	json_put(object, "hit_ratio_limit", s->kept.all ?
		 json_real(cache_sim_ratio(s, most_hits(s), CACHE_ALL)) : json_null());
	json_put(object, "sample_rate", json_real(page_accesses_rate(&s->accesses)));
	json_put(object, "wanted_hit_ratio", s->wanted ? json_real(s->wanted / 100) : json_null());
	json_put(object, "wanted_bytes", s->wanted_bytes ? json_integer(s->wanted_bytes) : json_null());
	basis_json(object, basis);
	json_put(object, "sizes", json_sizes(s));
	return object;
}

static json_t *json_lookups(const struct page_cache *c)
{
	json_t *lookups = json_object();
	unsigned int i;

	for (i = 0; i < PAGE_CACHE_WAYS; i++) {
		json_t *way = json_object();

		json_put(way, "hits", json_integer(c->lookups[i].hits));
		json_put(way, "misses", json_integer(c->lookups[i].misses));
		json_put(lookups, ways[i], way);
	}
	return lookups;
}

static json_t *json_command(const struct page_cache *c, __u32 number)
{
	char *command = number ? page_cache_command(c, number) : NULL;
	json_t *text = command ? json_string(command) : json_null();

	free(command);
	return text;
}

static json_t *json_pairs(const struct page_cache *c)
{
	json_t *array = json_array();
	struct page_cache_pair *pairs;
	size_t i, nr;

	pairs = page_cache_pairs(c, &nr);
	for (i = 0; i < nr; i++) {
		json_t *pair = json_object();

		json_put(pair, "reclaimed_by", json_command(c, pairs[i].by));
		json_put(pair, "last_used_by", json_command(c, pairs[i].of));
		json_put(pair, "pages", json_integer(pairs[i].pages));
		json_add(array, pair);
	}
	free(pairs);
	return array;
}

json_t *page_cache_json(const struct page_cache *c, const struct basis *basis)
{
	json_t *object = json_object(), *removed = json_object();
	unsigned int i;

	json_put(object, "page_bytes", json_integer(PAGE_BYTES));
	json_put(object, "lookups", json_lookups(c));
	json_put(object, "asked_pages", json_integer(c->asked));
	json_put(object, "ahead_pages", json_integer(c->ahead));
	json_put(object, "ahead_used_pages", json_integer(c->ahead_used));
	json_put(object, "ahead_removed_pages", json_integer(c->ahead_removed));
	for (i = 0; i < PAGE_CACHE_REMOVALS; i++)
		json_put(removed, page_cache_removals[i], json_integer(c->removed[i]));
	json_put(object, "removed_pages", removed);
	json_put(object, "reclaimed", json_pairs(c));
	json_put(object, "unfollowed_pages", json_integer(c->unfollowed));
	basis_json(object, basis);
	return object;
}

/* --- CSV ------------------------------------------------------------------------ */

void cache_sim_csv_header(void)
{
	puts("category,policy,cache_bytes,accesses,hits,hit_ratio,hit_ratio_error,reads,read_hits,"
	     "read_hit_ratio,read_hit_ratio_error,working_set_bytes,sample_rate," BASIS_CSV_HEADER);
}

static void csv_hits(const struct cache_sim *s, const struct cache_size *size,
		     enum cache_policy policy, enum cache_of of)
{
	struct hits hits = size->hits[policy];

	printf("%llu,", cache_sim_accesses(s, of));
	if (!size->pages) {
		fputs(",,,", stdout);
		return;
	}
	printf("%llu,%.6f,", all_hits(s, hits, of), cache_sim_ratio(s, hits, of));
	if (s->accesses.threshold < PAGE_ACCESSES_ALL && policy == CACHE_LRU)
		printf("%.6f", size->error[of]);
	putchar(',');
}

void cache_sim_csv(const struct cache_sim *s, const char *category, const struct basis *basis)
{
	unsigned int p;
	size_t i;

	for (i = 0; i < s->nr; i++)
		for (p = 0; p < CACHE_POLICIES; p++) {
			if (!s->policies[p])
				continue;
			printf("%s,%s,%llu,", category, cache_sim_policies[p], s->sizes[i].bytes);
			csv_hits(s, &s->sizes[i], p, CACHE_ALL);
			csv_hits(s, &s->sizes[i], p, CACHE_READS);
			printf("%llu,%.10g,", cache_sim_bytes(s, s->accesses.nr_pages),
			       page_accesses_rate(&s->accesses));
			basis_csv(basis);
			putchar('\n');
		}
}

void page_cache_csv(const struct page_cache *c, const struct basis *basis)
{
	__u64 hits = 0, all = 0, reads = c->lookups[PAGE_CACHE_READ].hits;
	__u64 all_reads = reads + c->lookups[PAGE_CACHE_READ].misses;
	unsigned int i;

	for (i = 0; i < PAGE_CACHE_WAYS; i++) {
		hits += c->lookups[i].hits;
		all += c->lookups[i].hits + c->lookups[i].misses;
	}
	printf("cache," KERNEL ",,%llu,%llu,%.6f,,%llu,%llu,%.6f,,,1,", all, hits, share(hits, all),
	       all_reads, reads, share(reads, all_reads));
	basis_csv(basis);
	putchar('\n');
}
