/* SPDX-License-Identifier: GPL-2.0 */
/* A target's binary stream: checks it, cuts it into records, and counts gaps. */
#ifndef TOOL_MODULE_STREAM_H
#define TOOL_MODULE_STREAM_H

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
	__u64 gaps;		/* seq numbers missing between first and next */
	bool started;		/* first and next are set */
	bool foreign;		/* it is the stream of another version of the module */
	size_t partial;		/* bytes of a record that is still incomplete */
	unsigned char *tail;	/* the bytes of the incomplete record */
};

/* Returns an exit code; errors are reported. Close the stream in either case. */
int stream_open(struct stream *s, const char *target, const char *subject);
void stream_close(struct stream *s);

/* Checks that this tool understands the header. Returns an exit code; sets event and t0. */
int stream_check(struct stream *s, const struct iot_stream_header *h, unsigned int layout);

/*
 * Appends records until the end of the stream, or until there are @most.
 * Returns 0 or a negative errno: -EIO means that the target was removed.
 */
int stream_read(struct stream *s, struct records *r, size_t most);

/* Sorts by time, which is not always the order of seq; for equal times by seq. */
void stream_sort(const struct stream *s, struct records *r);

/*
 * Returns how many of the events since the last reset can no longer be read.
 * Call it after reading; exact if nothing is recorded meanwhile.
 */
__u64 stream_missing(const struct stream *s);

const void *records_at(const struct stream *s, const struct records *r, size_t i);
void records_free(struct records *r);

#endif /* TOOL_MODULE_STREAM_H */
