// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/progress.h"
#include "base/xalloc.h"
#include "trace/cache_policy.h"
#include "trace/cache_sim.h"

#define SIZES_DEFAULT	12
#define WORKERS		16
#define T_95		2.131	/* Student's t for 95 %, of LRU_GROUPS - 1 degrees of freedom */

/* --- estimates ------------------------------------------------------------------ */

static __u64 of_hits(struct hits h, enum cache_of of)
{
	return of == CACHE_READS ? h.reads : h.all;
}

__u64 cache_sim_accesses(const struct cache_sim *s, enum cache_of of)
{
	return of == CACHE_READS ? s->accesses.seen_reads : s->accesses.seen;
}

/*
 * @rate: the share of the pages that @kept are the accesses to. What they lack of that share of all
 * accesses counts as hits.
 */
static double ratio(const struct cache_sim *s, struct hits hits, struct hits kept, double rate,
		    enum cache_of of)
{
	double expected = cache_sim_accesses(s, of) * rate, found;

	if (!expected)
		return 0;
	found = (of_hits(hits, of) + (expected - of_hits(kept, of))) / expected;
	return found < 0 ? 0 : found > 1 ? 1 : found;
}

double cache_sim_ratio(const struct cache_sim *s, struct hits hits, enum cache_of of)
{
	return ratio(s, hits, s->kept, page_accesses_rate(&s->accesses), of);
}

__u64 cache_sim_bytes(const struct cache_sim *s, __u64 pages)
{
	__u64 threshold = s->accesses.threshold;

	return ((__uint128_t)pages * PAGE_ACCESSES_ALL + threshold - 1) / threshold * PAGE_BYTES;
}

/* The pages of a cache that is as much smaller as the sample, or one of @groups parts of it, is. */
static __u64 scaled_pages(const struct cache_sim *s, __u64 bytes, unsigned int groups)
{
	__u64 all = groups * PAGE_ACCESSES_ALL;

	return ((__uint128_t)(bytes >> PAGE_SHIFT) * s->accesses.threshold + all / 2) / all;
}

/* --- sizes ---------------------------------------------------------------------- */

void cache_sim_add_size(struct cache_sim *s, __u64 bytes)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		if (s->sizes[i].bytes == bytes)
			return;
	s->sizes = xreallocarray(s->sizes, s->nr + 1, sizeof(*s->sizes));
	for (i = s->nr++; i && s->sizes[i - 1].bytes > bytes; i--)
		s->sizes[i] = s->sizes[i - 1];
	s->sizes[i] = (struct cache_size){ .bytes = bytes };
}

/* Powers of two, the largest of which has the whole working set. */
static void add_default_sizes(struct cache_sim *s)
{
	__u64 bytes = PAGE_BYTES, all = cache_sim_bytes(s, s->accesses.nr_pages);
	unsigned int i;

	while (bytes < all)
		bytes *= 2;
	for (i = 0; i < SIZES_DEFAULT && bytes >= PAGE_BYTES; i++, bytes /= 2)
		cache_sim_add_size(s, bytes);
}

/* The hit ratio rises with the size, so the smallest one is found by bisection. */
static void find_wanted(struct cache_sim *s, const struct lru_curve *c)
{
	/* A ratio that is exactly what is wanted may be computed as a little less. */
	double wanted = s->wanted / 100 - 1e-12;
	size_t low = 1, high = c->nr, middle;

	if (!high || cache_sim_ratio(s, c->hits[high], CACHE_ALL) < wanted)
		return;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (cache_sim_ratio(s, c->hits[middle], CACHE_ALL) >= wanted)
			high = middle;
		else
			low = middle + 1;
	}
	s->wanted_bytes = cache_sim_bytes(s, low);
	cache_sim_add_size(s, s->wanted_bytes);
}

/* --- LRU ------------------------------------------------------------------------ */

/* Half of the interval of 95 % of a mean of the groups' ratios. */
static double interval(const double ratios[LRU_GROUPS])
{
	double mean = 0, squares = 0;
	unsigned int i;

	for (i = 0; i < LRU_GROUPS; i++)
		mean += ratios[i] / LRU_GROUPS;
	for (i = 0; i < LRU_GROUPS; i++)
		squares += (ratios[i] - mean) * (ratios[i] - mean);
	return T_95 * sqrt(squares / (LRU_GROUPS - 1) / LRU_GROUPS);
}

static void set_errors(struct cache_sim *s)
{
	double rate = page_accesses_rate(&s->accesses) / LRU_GROUPS;
	double (*ratios)[CACHE_OF][LRU_GROUPS] = xreallocarray(NULL, s->nr, sizeof(*ratios));
	struct lru_curve curve;
	unsigned int group, of;
	size_t i;

	for (group = 0; group < LRU_GROUPS; group++) {
		lru_curve_make_group(&curve, &s->accesses, group);
		for (i = 0; i < s->nr; i++)
			for (of = 0; of < CACHE_OF; of++)
				ratios[i][of][group] = ratio(s, lru_curve_hits(&curve, scaled_pages(s, s->sizes[i].bytes, LRU_GROUPS)),
							     curve.seen, rate, of);
		lru_curve_free(&curve);
	}
	for (i = 0; i < s->nr; i++)
		for (of = 0; of < CACHE_OF; of++)
			s->sizes[i].error[of] = interval(ratios[i][of]);
	free(ratios);
}

/* Sets the sizes, and the hits of LRU with each. */
static void run_lru(struct cache_sim *s, __u32 *next)
{
	struct lru_curve curve;
	size_t i;

	lru_curve_make(&curve, &s->accesses, next);
	s->kept = curve.seen;
	if (!s->nr)
		add_default_sizes(s);
	if (s->wanted)
		find_wanted(s, &curve);
	for (i = 0; i < s->nr; i++) {
		struct cache_size *size = &s->sizes[i];

		/* A sample without a page tells nothing of any cache. */
		size->pages = curve.nr ? scaled_pages(s, size->bytes, 1) : 0;
		size->hits[CACHE_LRU] = lru_curve_hits(&curve, size->pages);
	}
	lru_curve_free(&curve);
	if (s->accesses.threshold < PAGE_ACCESSES_ALL)
		set_errors(s);
}

/* --- the other policies --------------------------------------------------------- */

struct jobs {
	struct cache_sim *sim;
	const __u32 *next;
	atomic_size_t begun;	/* of sizes and policies, the largest size first, as it takes longest */
};

static void simulate(struct jobs *jobs, struct cache_size *size, enum cache_policy policy)
{
	const struct page_accesses *a = &jobs->sim->accesses;
	__u64 pages = size->pages;

	if (!pages || !jobs->sim->policies[policy])
		return;
	if (pages > a->nr_pages)
		pages = a->nr_pages;	/* has all of them */
	if (policy == CACHE_FIFO)
		size->hits[policy] = cache_fifo(a, pages);
	else if (policy == CACHE_ARC)
		size->hits[policy] = cache_arc(a, pages);
	else if (policy == CACHE_MIN)
		size->hits[policy] = cache_min(a, jobs->next, pages);
}

static void *work(void *data)
{
	struct jobs *jobs = data;
	struct cache_sim *s = jobs->sim;
	size_t i, nr = s->nr * CACHE_POLICIES;

	while ((i = atomic_fetch_add(&jobs->begun, 1)) < nr)
		simulate(jobs, &s->sizes[s->nr - 1 - i / CACHE_POLICIES], i % CACHE_POLICIES);
	return NULL;
}

/* As many as there are processors, and as the memory allows. */
static size_t nr_workers(const struct cache_sim *s)
{
	long nr = sysconf(_SC_NPROCESSORS_ONLN);
	__u64 fit = s->accesses.memory / (CACHE_POLICY_BYTES * (s->accesses.nr_pages + 1)) / 2;

	if (nr > WORKERS)
		nr = WORKERS;
	if ((__u64)nr > fit)
		nr = fit;
	return nr < 1 ? 1 : nr;
}

static void run_others(struct cache_sim *s, const __u32 *next)
{
	struct jobs jobs = { .sim = s, .next = next };
	pthread_t threads[WORKERS];
	size_t i, nr = 1, wanted = nr_workers(s);

	/* This thread is the first of them. */
	while (nr < wanted && !pthread_create(&threads[nr], NULL, work, &jobs))
		nr++;
	work(&jobs);
	for (i = 1; i < nr; i++)
		pthread_join(threads[i], NULL);
}

/* --- all ------------------------------------------------------------------------ */

static void count_pages(struct cache_sim *s)
{
	const struct page_accesses *a = &s->accesses;
	unsigned char *how = xchecked(calloc(a->nr_pages + 1, 1));
	size_t i;

	for (i = 0; i < a->nr; i++)
		how[ACCESS_PAGE(a->at[i])] |= 1 << ACCESS_IS_WRITE(a->at[i]);
	for (i = 0; i < a->nr_pages; i++) {
		s->pages_read += how[i] & 1;
		s->pages_written += how[i] >> 1;
	}
	free(how);
}

void cache_sim_run(struct cache_sim *s)
{
	__u32 *next = xreallocarray(NULL, s->accesses.nr, sizeof(*next));

	if (progress_is_due())
		progress_show("simulating caches");
	count_pages(s);
	run_lru(s, next);
	run_others(s, next);
	free(next);
	progress_end();
}

void cache_sim_free(struct cache_sim *s)
{
	page_accesses_free(&s->accesses);
	free(s->sizes);
}
