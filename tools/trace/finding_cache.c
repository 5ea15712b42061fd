// SPDX-License-Identifier: GPL-2.0
/* Rules about category cache, by file. Tallies count pages. */
#include "trace/finding.h"
#include "uapi/iotracer.h"

#define PAGES_LEAST	4096	/* pages: 16 MiB, 10 ms of a fast device */
#define MISSES_LEAST	256	/* pages: with 0.1 ms each of a fast device, 25 ms */
#define HALF		50	/* percent */
#define QUARTER		25

struct file {
	struct finding_subject subject;
	__u64 ahead, used, missed;	/* pages */
	__u64 removed;			/* pages that left memory, for whatever reason */
	__u64 reclaimed;		/* of them as their memory was needed */
	__u64 pages;			/* of the file, at most */
	bool mapped;			/* pages around a fault are used without an event */
};

static void add(struct finding_events *e, const void *record, const struct measure *m)
{
	const struct iot_cache *c = record;
	const struct { const void *source; __u64 inode, path, device; } key = {
		e->source, c->inode, c->inode ? 0 : c->path, c->device,
	};
	struct file *f;
	__u64 pages = m->weight * c->pages;

	if (!c->inode && !c->path)
		return;
	f = finding_find(e, 0, &key, sizeof(key), m, c->pid, c->comm);
	if (c->path)
		f->subject.path = c->path;
	if (c->file_pages > f->pages)
		f->pages = c->file_pages;
	f->mapped |= c->flags & IOT_CACHE_FAULT;
	switch (c->op) {
	case IOT_CACHE_READAHEAD:
		f->ahead += pages;
		break;
	case IOT_CACHE_MISS:
		f->missed += pages;
		f->used += pages;
		break;
	case IOT_CACHE_HIT:
		f->used += pages;
		break;
	case IOT_CACHE_RECLAIM:
		f->reclaimed += pages;
		f->removed += pages;
		break;
	case IOT_CACHE_EVICT:
	case IOT_CACHE_INVALIDATE:
	case IOT_CACHE_DROP:
		f->removed += pages;
		break;
	}
}

/* @pages of @of prove it. */
static bool is_most(struct finding_row *row, __u64 pages, __u64 of)
{
	row->tally = (struct finding_tally){ .count = pages, .bytes = pages * FINDING_PAGE };
	row->of = of;
	return pages >= PAGES_LEAST && finding_share(pages, of, HALF);
}

static __u64 least(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

/* A page that was used several times counts as several that were: so these are the fewest. */
static bool readahead_wasted(const void *subject, const struct finding_context *c,
			     struct finding_row *row)
{
	const struct file *f = subject;

	(void)c;
	return !f->mapped && f->ahead > f->used &&
	       is_most(row, least(f->ahead - f->used, f->removed), f->ahead);
}

/* More misses than the file has pages: the others were in memory before. */
static bool reclaimed_early(const void *subject, const struct finding_context *c,
			    struct finding_row *row)
{
	const struct file *f = subject;

	(void)c;
	return f->missed > f->pages &&
	       is_most(row, least(f->missed - f->pages, f->reclaimed), f->missed);
}

/*
 * Much of what is used has to be read first, while pages of the same file leave memory: it is accessed
 * at random, and does not fit. What is read in sequence is read ahead, and seldom missed.
 */
static bool cache_too_small(const void *subject, const struct finding_context *c,
			    struct finding_row *row)
{
	const struct file *f = subject;

	(void)c;
	row->tally = (struct finding_tally){ .count = f->missed, .bytes = f->missed * FINDING_PAGE };
	row->of = f->used;
	return f->missed >= MISSES_LEAST && finding_share(f->missed, f->used, QUARTER) &&
	       finding_share(f->reclaimed, f->missed, HALF);
}

static const struct finding_rule rules[] = {
	{ "readahead-wasted", 0, FINDING_WARNING, "file", "pages read ahead",
	  "or more left memory without having been used",
	  "For random reads call posix_fadvise(2) with POSIX_FADV_RANDOM, or lower /sys/block/DISK/queue/read_ahead_kb.",
	  .look = readahead_wasted, .needs_all = true },
	{ "reclaimed-early", 0, FINDING_WARNING, "file", "missed pages",
	  "or more had been in memory before, until it was needed for others",
	  "The page cache is too small for the working set: give it more memory (memory.high of the control group), or use POSIX_FADV_NOREUSE for what is read once.",
	  .look = reclaimed_early },
	{ "cache-too-small", 0, FINDING_WARNING, "file", "pages used",
	  "had to be read, while half as many of the file or more left memory, as it was needed for others",
	  "The file does not fit into the page cache. Give it more memory (the machine, or memory.max of the control group), or the program a larger cache of its own; iotracer cache-sim says how much helps.",
	  .look = cache_too_small, .needs_all = true },
};

const struct finding_watch finding_cache = {
	.category = "cache", .sizes = { sizeof(struct file) },
	.add = add, .rules = rules, .nr_rules = sizeof(rules) / sizeof(rules[0]),
};
