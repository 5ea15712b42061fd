// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "base/json.h"
#include "record/counts.h"
#include "trace/trace.h"

static json_t *json_range(const struct writer_range *range)
{
	json_t *object = json_object();

	json_put(object, "first", json_integer(range->first));
	json_put(object, "next", json_integer(range->next));
	return object;
}

/* The range of each CPU that had events. */
static json_t *json_ranges(const struct writer_file *f)
{
	json_t *object = json_object();
	char cpu[16];
	unsigned int n;

	for (n = 0; n < f->cpus; n++) {
		snprintf(cpu, sizeof(cpu), "%u", n);
		if (f->ranges[n].any)
			json_put(object, cpu, json_range(&f->ranges[n]));
	}
	return object;
}

static json_t *json_lost(const struct writer_file *f)
{
	json_t *object = json_object();
	char cpu[16];
	unsigned int n;

	for (n = 0; n < f->cpus; n++) {
		if (!f->lost_by_cpu[n])
			continue;
		snprintf(cpu, sizeof(cpu), "%u", n);
		json_put(object, cpu, json_integer(f->lost_by_cpu[n]));
	}
	return object;
}

void counts_put(json_t *object, const struct writer_file *f, json_t *missed, json_t *seen)
{
	json_put(object, "events", json_integer(f->events));
	json_put(object, "lost", json_integer(f->lost));
	json_put(object, "lost_by_cpu", json_lost(f));
	json_put(object, "missed", missed);
	json_put(object, "seen", seen);
	json_put(object, "seq_by_cpu", json_ranges(f));
	json_put(object, "frames", json_integer(f->file.frames));
	json_put(object, "bytes", json_integer(f->bytes));
}

json_t *counts_paths(const struct writer_file *f, json_t *missed)
{
	json_t *object = json_object();

	json_put(object, "file", json_string(TRACE_PATHS));
	json_put(object, "count", json_integer(f->events));
	json_put(object, "lost", json_integer(f->lost));
	json_put(object, "missed", missed);
	json_put(object, "numbers", json_range(&f->ranges[0]));
	json_put(object, "frames", json_integer(f->file.frames));
	json_put(object, "bytes", json_integer(f->bytes));
	return object;
}
