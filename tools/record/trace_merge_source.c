// SPDX-License-Identifier: GPL-2.0
/* Opens and checks the traces to be merged, before anything is written. */
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "record/store.h"
#include "record/trace_merge_parts.h"
#include "trace/categories.h"
#include "trace/sources.h"

__u64 trace_merge_time(const struct trace_merge_source *s, __u64 monotonic)
{
	return wall_time(&s->check.clock, monotonic) + s->offset;
}

static size_t position_of(const struct category *category)
{
	size_t i = 0;

	while (categories[i] != category)
		i++;
	return i;
}

static int open_part(struct trace_merge_source *s, const struct category *category, size_t i)
{
	struct trace_merge_part *part = &s->parts[position_of(category)];
	char *file = xasprintf("%s.iot", category->name);
	int status = CLI_OK;

	if (!part->there) {
		part->there = true;
		part->i = i;
		status = cpu_merge_open(&part->merge, s->path, file, category_event(category));
	}
	if (!status && part->merge.nr_cpus > s->cpus)
		s->cpus = part->merge.nr_cpus;
	free(file);
	return status;
}

static int open_parts(struct trace_merge_source *s)
{
	const struct category *category;
	int status = CLI_OK;
	const char *name;
	size_t i;

	s->parts = xreallocarray(NULL, nr_categories, sizeof(*s->parts));
	memset(s->parts, 0, nr_categories * sizeof(*s->parts));
	for (i = 0; !status && (name = metadata_category(&s->check.metadata, i)); i++) {
		category = category_find(name, strlen(name));
		if (category) {
			status = open_part(s, category, i);
			continue;
		}
		cli_say_of(s->name, "category %s is not known to this tool", name);
		status = CLI_FAILED;
	}
	return status;
}

static void set_offset(const struct trace_merge_options *o, struct trace_merge_source *s)
{
	size_t i;

	for (i = 0; i < o->nr_offsets; i++)
		if (!strcmp(o->offsets[i].trace, s->name))
			s->offset = o->offsets[i].ns;
}

/* The traces share only the time of day, so each one must have it. */
static int check_clock(const struct trace_merge_source *s)
{
	const struct wall_pair *begin = &s->check.metadata.begin;

	if (begin->realtime && (__s64)trace_merge_time(s, begin->monotonic) > 0)
		return CLI_OK;
	cli_say_of(s->name, begin->realtime ? "begins before 1970 with this offset" :
		   "cannot be merged: " TRACE_METADATA " does not say when it began");
	return CLI_FAILED;
}

static int check_trace(const struct trace_merge *t, struct trace_merge_source *s)
{
	const char *other = trace_merge_same(t->list, s);

	if (s->check.is_recorded) {
		cli_say_of(s->name, "is being recorded: end iotracer record first");
		return CLI_FAILED;
	}
	if (other) {
		cli_say_of(s->name, "is the same trace as %s, or contains it", other);
		return CLI_FAILED;
	}
	return check_clock(s);
}

/* Assigns the trace its CPUs, after those of the traces before it. */
static int take_cpus(struct trace_merge *t, struct trace_merge_source *s)
{
	s->first_cpu = t->cpus;
	t->cpus += s->cpus;
	if (t->cpus <= CPU_MERGE_CPUS)
		return CLI_OK;
	cli_say_of(s->name, "the traces have more than %d CPUs in total, which is the limit of a trace",
		   CPU_MERGE_CPUS);
	return CLI_FAILED;
}

/* If the end of a trace is not known, the end of its last event counts. */
static void note_times(struct trace_merge *t, const struct trace_merge_source *s)
{
	const struct metadata *m = &s->check.metadata;
	__u64 begin = trace_merge_time(s, m->begin.monotonic);
	__u64 end = m->end.monotonic ? trace_merge_time(s, m->end.monotonic) : begin;

	if (!t->begin || begin < t->begin)
		t->begin = begin;
	if (end > t->end)
		t->end = end;
}

static int open_source(struct trace_merge *t, struct trace_merge_source *s)
{
	int status;

	s->path = store_find(s->name);
	if (!s->path)
		return CLI_FAILED;
	s->check.is_recorded = check_is_recorded(s->path);
	status = check_open(&s->check, s->path);
	set_offset(t->options, s);
	if (!status)
		status = check_trace(t, s);
	if (!status)
		status = open_parts(s);
	if (!status)
		status = take_cpus(t, s);
	if (status)
		return status;
	check_state(&s->check);
	if (json_is_object(json_object_get(s->check.metadata.document, "snapshots")))
		cli_say_of(s->name, "its snapshots are not copied: the merged trace has none");
	note_times(t, s);
	trace_merge_add_source(t->list, s);
	return CLI_OK;
}

int trace_merge_open(struct trace_merge *t)
{
	int status = CLI_OK;
	size_t i;

	t->list = json_array();
	t->sources = xreallocarray(NULL, t->options->nr, sizeof(*t->sources));
	for (i = 0; !status && i < t->options->nr; i++) {
		t->sources[i] = (struct trace_merge_source){ .name = t->options->names[i] };
		t->nr++;
		status = open_source(t, &t->sources[i]);
	}
	return status;
}

static void close_source(struct trace_merge_source *s)
{
	size_t i;

	for (i = 0; s->parts && i < nr_categories; i++)
		if (s->parts[i].there)
			cpu_merge_close(&s->parts[i].merge);
	free(s->parts);
	check_close(&s->check);
	free(s->path);
}

void trace_merge_close(struct trace_merge *t)
{
	while (t->nr)
		close_source(&t->sources[--t->nr]);
	free(t->sources);
	json_decref(t->list);
}
