// SPDX-License-Identifier: GPL-2.0
/* Verifies the sums of a receipt. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/text.h"
#include "record/receipt.h"
#include "record/receipt_parts.h"
#include "trace/categories.h"

static int find(const char *const *names, size_t nr, const char *name)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

static bool has_disk(const struct sums *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->nr_devices; i++)
		if (!strcmp(s->devices[i].disk, name))
			return true;
	return false;
}

static bool block_sum(const struct sums *s, const char *what, const char *of, __u32 device, __u64 *sum)
{
	struct sums_device d = receipt_sum_devices(s, of, device, has_disk(s, of));
	const long page = sysconf(_SC_PAGESIZE);
	int requests = find(of_requests, SUMS_DIRECTIONS, what);
	int sectors = find(of_sectors, SUMS_DISCARD + 1, what);
	int bytes = find(of_bytes, SUMS_DISCARD + 1, what);
	int swapped = find(of_swapped, SUMS_WRITE + 1, what);

	if (requests >= 0)
		*sum = d.requests[requests];
	else if (sectors >= 0)
		*sum = d.bytes[sectors] / SECTOR;
	else if (bytes >= 0)
		*sum = d.asked[bytes];
	else if (swapped >= 0)
		*sum = s->swapped[swapped] / page;
	else if (!strcmp(what, OF_SUBMITTED))
		*sum = s->submitted;
	else
		return false;
	return true;
}

static bool call_sum(const struct sums *s, const char *what, __u64 *sum)
{
	int calls = find(of_calls, SUMS_WRITE + 1, what);
	int moved = find(of_moved, SUMS_WRITE + 1, what);

	if (calls >= 0)
		*sum = s->calls[calls];
	else if (moved >= 0)
		*sum = s->moved[moved];
	else
		return false;
	return true;
}

static bool page_sum(const struct receipt *r, const struct sums *s, const char *what, __u64 *sum)
{
	const struct receipt_part *fs = receipt_part_of(r, IOT_EVENT_ID_FS);

	if (!strcmp(what, OF_DIRTIED))
		*sum = s->pages[IOT_CACHE_DIRTY];
	else if (!strcmp(what, OF_WRITTEN))
		*sum = s->pages[IOT_CACHE_WRITEBACK_END];
	else if (!strcmp(what, OF_CHARGED) && fs)
		*sum = s->pages[IOT_CACHE_DIRTY] * sysconf(_SC_PAGESIZE) + fs->sums.direct_writes;
	else
		return false;
	return true;
}

static bool fault_sum(const struct sums *s, const char *what, __u64 *sum)
{
	if (!strcmp(what, OF_FAULTS))
		*sum = s->faults[0] + s->faults[1];
	else if (!strcmp(what, OF_MINOR))
		*sum = s->faults[0];
	else if (!strcmp(what, OF_MAJOR))
		*sum = s->faults[1];
	else
		return false;
	return true;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* Computes the sum of a comparison from the records. False if this tool does not know it. */
static bool sum_again(const struct receipt *r, const json_t *line, __u64 *sum)
{
	const char *name = text_of(line, "category"), *what = text_of(line, "what");
	const struct category *category = category_find(name, strlen(name));
	const struct receipt_part *p = category ? receipt_part_of(r, category->event_id) : NULL;

	if (!p)
		return false;
	switch (category->event_id) {
	case IOT_EVENT_ID_FS:
		return call_sum(&p->sums, what, sum);
	case IOT_EVENT_ID_BLOCK:
		return block_sum(&p->sums, what, text_of(line, "of"),
				 json_integer_value(json_object_get(line, "device")), sum);
	case IOT_EVENT_ID_CACHE:
		return page_sum(r, &p->sums, what, sum);
	case IOT_EVENT_ID_FAULT:
		return fault_sum(&p->sums, what, sum);
	}
	return false;
}

bool receipt_again(struct receipt *r, const json_t *document)
{
	const json_t *json = json_object_get(document, RECEIPT_KEY);
	const json_t *categories = json_object_get(document, "categories"), *one;
	const struct category *category;
	const char *name;
	size_t i;

	/* the last of several traces has the receipt of all */
	if (!json_is_object(json) || !json_is_null(json_object_get(document, "segment")))
		return false;
	r->begin = json_integer_value(json_object_get(json, "begin_monotonic_ns"));
	r->end = json_integer_value(json_object_get(json, "end_monotonic_ns"));
	r->from = ~0ULL;
	r->until = r->end;
	r->of_command = !r->end;
	json_array_foreach(categories, i, one) {
		name = text_of(one, "name");
		category = category_find(name, strlen(name));
		if (!category)
			return false;
		receipt_add_category(r, category, text_of(one, "filter"));
	}
	return true;
}

size_t receipt_verify(const struct receipt *r, const json_t *document, const char *trace)
{
	const json_t *lines = json_object_get(json_object_get(document, RECEIPT_KEY), "compared"), *one;
	size_t i, wrong = 0;

	json_array_foreach(lines, i, one) {
		__u64 stated = json_integer_value(json_object_get(one, "trace")), sum;
		char *what;

		if (!sum_again(r, one, &sum) || sum == stated)
			continue;
		what = text_guard(text_of(one, "what"), strlen(text_of(one, "what")), "");
		cli_say_of(trace, "its receipt has %llu %s, but its events have %llu",
			   (unsigned long long)stated, what, (unsigned long long)sum);
		free(what);
		wrong++;
	}
	return wrong;
}

size_t receipt_count(const json_t *json, const char *wanted)
{
	const json_t *all = json_object_get(json, "compared"), *one;
	size_t i, n = 0;

	json_array_foreach(all, i, one) {
		n += !strcmp(text_of(one, "verdict"), wanted);
	}
	return n;
}
