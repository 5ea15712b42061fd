// SPDX-License-Identifier: GPL-2.0
/* The paths of a merged trace: the ids of each source follow those of the source before. */
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/interrupt.h"
#include "record/trace_merge_parts.h"
#include "trace/paths.h"
#include "trace/read.h"

/* Whether a path's id and length are possible after the paths before it. */
static bool follows(const struct trace_merge_source *s, const struct iot_path_record *r)
{
	if (r->length > PATHS_BYTES)
		return false;
	return !s->path_next || (r->id >= s->path_next && r->id - s->path_next < PATHS_GAP);
}

static void take(struct trace_merge_source *s, struct iot_path_record *r)
{
	if (!s->path_next)
		s->path_first = r->id;
	s->path_next = r->id + 1;
	r->id = r->id - s->path_first + s->path_base;
}

size_t trace_merge_move_paths(struct trace_merge_source *s, char *content, size_t size, __u64 *paths)
{
	size_t at = 0, length;
	struct iot_path_record r;

	*paths = 0;
	while (size - at >= sizeof(r)) {
		memcpy(&r, content + at, sizeof(r));
		length = sizeof(r) + ((r.length + 7ULL) & ~7ULL);
		if (length > size - at || !follows(s, &r))
			break;
		take(s, &r);
		memcpy(content + at, &r, sizeof(r));
		at += length;
		++*paths;
	}
	return at;
}

struct copy {
	struct trace_reader reader;
	char *data;
	size_t room;
	__u64 paths;
};

static int copy_frame(struct trace_merge *t, struct trace_merge_source *s, struct copy *c, __u64 at)
{
	struct trace_frame frame, out = { 0 };
	__u64 paths;

	if (!trace_reader_load(&c->reader, at, &c->data, &c->room, &frame))
		return CLI_OK;
	out.size = trace_merge_move_paths(s, c->data, frame.size, &paths);
	if (out.size != frame.size)
		trace_reader_damaged(&c->reader, at, &frame);
	if (!paths)
		return CLI_OK;
	c->paths += paths;
	out.events = paths;
	memcpy(t->content, &out, sizeof(out));
	memcpy(t->content + sizeof(out), c->data, out.size);
	return trace_merge_put(t, &t->paths);
}

/* Reports what is damaged, and counts what is missing. */
static void check_paths(struct trace_merge *t, struct trace_merge_source *s, struct copy *c)
{
	struct metadata_file expected;
	__u64 lost = s->path_next - s->path_first - c->paths;

	if (metadata_paths_file(&s->check.metadata, &expected))
		trace_reader_check(&c->reader, expected.frames, expected.bytes);
	s->check.damaged |= c->reader.damaged;
	t->paths.lost += lost;
	if (lost)
		cli_say_of(s->name, "%llu paths are missing, and are shown as ?", (unsigned long long)lost);
}

static int copy_paths(struct trace_merge *t, struct trace_merge_source *s)
{
	const struct iot_stream_header like = { .layout = IOT_LAYOUT_PATHS };
	struct copy c = { .paths = 0 };
	struct trace_frame frame;
	__u64 at;
	int status = trace_reader_open(&c.reader, s->path, TRACE_PATHS, &like);

	while (!status && !interrupt_came(NULL) && trace_reader_next(&c.reader, &frame, &at))
		status = copy_frame(t, s, &c, at);
	if (!status && !interrupt_came(NULL))
		check_paths(t, s, &c);
	trace_reader_close(&c.reader);
	free(c.data);
	return status;
}

int trace_merge_write_paths(struct trace_merge *t)
{
	__u64 base = 1;
	int status = trace_merge_create(t, &t->paths, TRACE_PATHS, NULL);
	size_t i;

	for (i = 0; !status && i < t->nr; i++) {
		t->sources[i].path_base = base;
		status = copy_paths(t, &t->sources[i]);
		base += t->sources[i].path_next - t->sources[i].path_first;
	}
	return cli_merge(status, trace_merge_end_file(t, &t->paths));
}
