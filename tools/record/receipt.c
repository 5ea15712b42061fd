// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "record/receipt.h"
#include "record/receipt_parts.h"
#include "trace/record.h"
#include "trace/row.h"

/* --- filters -------------------------------------------------------------------- */

static void take_key(struct receipt_filter *f, const char *word)
{
	const char *equals = strchr(word, '='), *value = equals ? equals + 1 : "";
	size_t length = equals ? (size_t)(equals - word) : strlen(word);
	char *key = xasprintf("%.*s", (int)length, word);

	if (!strcmp(key, "tree"))
		f->tree = true;
	else if (!strcmp(key, "kind"))
		f->all_kinds = !strcmp(value, "all");
	else if (!strcmp(key, "rejected"))
		f->rejected = true;
	else if (!strcmp(key, "cgroup") && !strchr(value, ','))
		f->cgroup = strtoull(value, NULL, 10);
	else if (!strcmp(key, "dev") && !f->devices)
		f->devices = receipt_list(value);
	else if (!strcmp(key, "op") && !f->operations)
		f->operations = receipt_list(value);
	else if (strcmp(key, "none") && !f->other)
		f->other = xstrdup(key);
	free(key);
}

static void parse_filter(struct receipt_filter *f, const char *text)
{
	char *copy = xstrdup(text), *word, *save = NULL;

	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		take_key(f, word);
	free(copy);
}

/* --- sums ----------------------------------------------------------------------- */

static bool has_sums(unsigned int event_id)
{
	return event_id == IOT_EVENT_ID_BLOCK || event_id == IOT_EVENT_ID_CACHE ||
	       event_id == IOT_EVENT_ID_FAULT;
}

void receipt_add_category(struct receipt *r, const struct category *category, const char *filter)
{
	const struct iot_schema_event *event = category_event(category);
	struct receipt_part *p;

	r->parts = xreallocarray(r->parts, r->nr + 1, sizeof(*r->parts));
	p = &r->parts[r->nr++];
	*p = (struct receipt_part){
		.category = category, .size = event->size,
		.time = record_field(event, "time")->offset,
		.latency = record_field(event, "latency")->offset,
	};
	parse_filter(&p->filter, filter);
	/* the kernel counts calls only per process */
	p->summed = has_sums(category->event_id) ||
		    (r->of_command && category->event_id == IOT_EVENT_ID_FS);
}

bool receipt_is_of_machine(const struct receipt *r)
{
	size_t i;

	for (i = 0; i < r->nr; i++)
		if (has_sums(r->parts[i].category->event_id) && !r->of_command)
			return true;
	return false;
}

static __u64 cgroup_of(const struct receipt *r)
{
	const struct receipt_part *block = receipt_part_of(r, IOT_EVENT_ID_BLOCK);

	return block ? block->filter.cgroup : 0;
}

void receipt_begin(struct receipt *r)
{
	kernel_counts_read(&r->before, receipt_part_of(r, IOT_EVENT_ID_CACHE), cgroup_of(r));
	r->from = r->before.begin - RECEIPT_EDGE_NS;
	r->begin = r->before.end + RECEIPT_EDGE_NS;
}

void receipt_end(struct receipt *r)
{
	kernel_counts_read(&r->after, receipt_part_of(r, IOT_EVENT_ID_CACHE), cgroup_of(r));
	r->until = r->after.end + RECEIPT_EDGE_NS;
}

/* The sums to which a record belongs; NULL if it is outside of both. */
static struct sums *sums_of(const struct receipt *r, struct receipt_part *p, __u64 began, __u64 end)
{
	if (r->of_command)
		return &p->sums;
	/* the kernel counts a fault when it begins, and the parts of a request as each one ends */
	if (began >= r->begin && (!r->end || end <= r->end))
		return &p->sums;
	if (end < r->from || (r->until && began > r->until))
		return NULL;
	return &p->edges;
}

void receipt_sum(struct receipt *r, size_t i, const char *records, size_t nr)
{
	struct receipt_part *p = &r->parts[i];
	struct sums *sums;
	__u64 began, took;

	for (; p->summed && nr; nr--, records += p->size) {
		memcpy(&began, records + p->time, sizeof(began));
		memcpy(&took, records + p->latency, sizeof(took));
		sums = sums_of(r, p, began, began + took);
		if (sums)
			sums_add(sums, p->category->event_id, records);
	}
}

void receipt_lose(struct receipt *r, size_t i, __u64 lost, __u64 missed)
{
	r->parts[i].lost += lost;
	r->parts[i].missed += missed;
}

void receipt_free(struct receipt *r)
{
	size_t i;

	for (i = 0; i < r->nr; i++) {
		struct receipt_part *p = &r->parts[i];

		sums_free(&p->sums);
		sums_free(&p->edges);
		free(p->filter.devices);
		free(p->filter.operations);
		free(p->filter.other);
	}
	free(r->parts);
	kernel_counts_free(&r->before);
	kernel_counts_free(&r->after);
	*r = (struct receipt){ 0 };
}
