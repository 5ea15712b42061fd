/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing a file of a trace, a batch of frames at a time: all of a batch is
 * written, or nothing of it stays.
 */
#ifndef TOOL_TRACE_WRITE_H
#define TOOL_TRACE_WRITE_H

#include <stddef.h>
#include <sys/uio.h>

#include "trace.h"

/* A frame of the batch, and room for its compressed form, which is kept. */
struct trace_slot {
	struct trace_frame header;
	char *packed;
	size_t room;
};

struct trace_writer {
	int fd;
	__u64 end;			/* bytes written: header and whole batches */
	size_t batch;			/* bytes of the batch that is being made */
	struct trace_slot *slots;	/* its frames */
	unsigned int nr_slots, max_slots;
	struct iovec *iov;		/* its pieces */
	size_t nr_iov, room_iov;
	void *zstd;			/* NULL: not compressed */
	char *flat;			/* the parts in one piece */
	size_t room_flat;
};

/*
 * @name in the directory @dir; @level of zstd, 0 for no compression; a batch has
 * @frames frames at most. 0 or a negative errno.
 */
int trace_writer_open(struct trace_writer *w, int dir, const char *name,
		      const struct iot_stream_header *header, int level,
		      unsigned int frames);

/* @parts must stay until the batch is written. Fill in cpu, events and until. */
void trace_writer_add(struct trace_writer *w, struct trace_frame frame,
		      const struct iovec *parts, size_t nr);

/* 0 or a negative errno; then the file is as it was. The batch is gone in either case. */
int trace_writer_commit(struct trace_writer *w);
void trace_writer_drop(struct trace_writer *w);

/* Puts it on the disk and closes it. 0 or a negative errno. */
int trace_writer_close(struct trace_writer *w);

#endif /* TOOL_TRACE_WRITE_H */
