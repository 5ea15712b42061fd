// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "trace/compress.h"
#include "trace/gather.h"
#include "trace/read.h"
#include "trace/write.h"

/* Writes what is gathered. @content has room for TRACE_FRAME_MAX bytes after a header. */
static int put(struct trace_gather *g, struct trace_file *f, char *content)
{
	if (!g->frame.size)
		return 0;
	trace_gather_take(g, content);
	return trace_file_put(f, content, ~0ULL);
}

/* Copies all frames, each with those that follow it as far as they fit. */
static int copy_frames(struct trace_reader *r, struct trace_file *f, char *content,
		       bool (*interrupted)(void *data), void *data)
{
	struct trace_gather g = {
		.record = r->header.layout == IOT_LAYOUT_BLOCKS ? r->header.record_size : 0,
	};
	char *loaded = NULL;
	struct trace_frame frame;
	size_t room = 0;
	int err = 0;
	__u64 at;

	while (!err && trace_reader_next(r, &frame, &at)) {
		if (interrupted(data))
			err = -EINTR;
		else if (!trace_reader_load(r, at, &loaded, &room, &frame))
			err = -EBADMSG;
		else if (trace_gather_is_full(&g, frame.size))
			err = put(&g, f, content);
		if (!err && !trace_gather_add(&g, &frame, loaded))
			err = -EBADMSG;
	}
	if (!err)
		err = put(&g, f, content);
	trace_gather_free(&g);
	free(loaded);
	return !err && r->damaged ? -EBADMSG : err;
}

int trace_compress(const char *directory, int dir, const char *name, int level,
		   const struct iot_stream_header *like, bool (*interrupted)(void *data),
		   void *data, __u64 *bytes, __u64 *frames)
{
	char *next = xasprintf(".%s", name);
	char *content = trace_frame_alloc(TRACE_FRAME_MAX);
	struct trace_file f = { .fd = -1 };
	struct trace_reader r;
	int err, closed;

	err = trace_reader_open(&r, directory, name, like) ? -EBADMSG : 0;
	if (!err)
		err = trace_file_create(&f, dir, next, &r.header, level);
	if (!err)
		err = copy_frames(&r, &f, content, interrupted, data);
	closed = trace_file_close(&f);
	if (!err)
		err = closed;
	if (!err && renameat(dir, next, dir, name))
		err = -errno;
	if (err) {
		unlinkat(dir, next, 0);
	} else {
		*bytes = f.end;
		*frames = f.frames;
	}
	trace_reader_close(&r);
	free(content);
	free(next);
	return err;
}
