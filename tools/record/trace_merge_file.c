// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "record/trace_merge_parts.h"

#define LEVEL 1	/* of zstd, as in session.c */

int trace_merge_fail(struct trace_merge *t, const char *name, int err)
{
	if (!t->failed)
		cli_say_of(t->directory, "%s cannot be written: %s (the merged trace is deleted)", name,
			   strerror(-err));
	t->failed = true;
	return CLI_FAILED;
}

/* @event: NULL for the file of paths, which belong to no CPU. */
int trace_merge_create(struct trace_merge *t, struct writer_file *f, const char *name,
		       const struct iot_schema_event *event)
{
	struct iot_stream_header header = {
		.version = IOT_STREAM_VERSION, .schema = iot_schema_hash(), .t0 = t->begin,
		.layout = event ? IOT_LAYOUT_BLOCKS : IOT_LAYOUT_PATHS,
		.event = event ? event->id : 0, .record_size = event ? event->size : 0,
		.cpus = event ? t->cpus : 0,
	};
	size_t ranges = event ? t->cpus : 1;
	int err;

	*f = (struct writer_file){
		.name = xstrdup(name), .cpus = header.cpus, .record = header.record_size,
	};
	f->ranges = xreallocarray(NULL, ranges, sizeof(*f->ranges));
	memset(f->ranges, 0, ranges * sizeof(*f->ranges));
	f->lost_by_cpu = xreallocarray(NULL, ranges, sizeof(*f->lost_by_cpu));
	memset(f->lost_by_cpu, 0, ranges * sizeof(*f->lost_by_cpu));
	err = trace_file_create(&f->file, t->dir, name, &header, LEVEL);
	f->bytes = f->file.end;
	return err ? trace_merge_fail(t, name, err) : CLI_OK;
}

int trace_merge_put(struct trace_merge *t, struct writer_file *f)
{
	struct trace_frame frame;
	int err = trace_file_put(&f->file, t->content, ~0ULL);

	if (err)
		return trace_merge_fail(t, f->name, err);
	memcpy(&frame, t->content, sizeof(frame));
	writer_count(f, t->content + sizeof(frame), &frame);
	return CLI_OK;
}

int trace_merge_end_file(struct trace_merge *t, struct writer_file *f)
{
	bool open = f->file.fd >= 0;
	int err = trace_file_close(&f->file);

	return open && err ? trace_merge_fail(t, f->name, err) : CLI_OK;
}

void trace_merge_free_file(struct writer_file *f)
{
	free(f->lost_by_cpu);
	free(f->ranges);
	free(f->name);
	f->lost_by_cpu = NULL;
	f->ranges = NULL;
	f->name = NULL;
}
