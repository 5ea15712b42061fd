/* SPDX-License-Identifier: GPL-2.0 */
/* A target's binary stream: checked, cut into records, gaps counted. */
#ifndef TOOL_STREAM_H
#define TOOL_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "core/schema.h"

/* Records of one event, in one piece of memory. */
struct records {
	unsigned char *data;
	size_t nr;
	size_t room;
};

struct stream {
	const char *subject;	/* for messages: what the user named */
	const char *target;
	int fd;
	const struct iot_schema_event *event;
	__u64 t0;		/* CLOCK_MONOTONIC ns */
	__u64 first;		/* seq of the first record */
	__u64 next;		/* seq after the last record */
	__u64 gaps;		/* seq numbers missing between the two */
	bool started;		/* first and next are set */
	size_t partial;		/* bytes of a record that is not whole yet */
	unsigned char *tail;	/* these bytes */
};

/* An exit code; what is wrong was said. Close the stream in either case. */
int stream_open(struct stream *s, const char *target, const char *subject);
void stream_close(struct stream *s);

/* Is it a header that this tool understands? An exit code; sets event and t0. */
int stream_check(struct stream *s, const struct iot_stream_header *h, unsigned int layout);

/*
 * Appends what can be read until the end, or until there are @most records.
 * 0 or a negative errno: -EIO says that the target was removed.
 */
int stream_read(struct stream *s, struct records *r, size_t most);

/* By time, which is not always the order of seq; for equal times by seq. */
void stream_sort(const struct stream *s, struct records *r);

/*
 * How many events no reader can see any more, of those since the last reset.
 * Call it after reading; exact if the target is quiet meanwhile.
 */
__u64 stream_missing(const struct stream *s);

const void *records_at(const struct stream *s, const struct records *r, size_t i);
void records_free(struct records *r);

#endif /* TOOL_STREAM_H */
