/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread that writes what another one reads, so that reading goes on while the
 * disk is busy. Chunks are written in the order in which they were put.
 */
#ifndef TOOL_WRITER_H
#define TOOL_WRITER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "trace_write.h"

/* Numbers that were written: seq of one CPU, or of paths. */
struct writer_range {
	bool any;
	__u64 first, next;		/* the last is the one before @next */
};

/* What is written into one file, and what that holds. */
struct writer_file {
	struct trace_file file;
	char *name;
	unsigned int cpus;		/* 0: paths */
	size_t record;			/* bytes of one */
	atomic_ullong events, lost;	/* or paths; written, and missing before them */
	atomic_ullong bytes;
	/* To be read when the writer has finished: */
	__u64 *lost_by_cpu;
	struct writer_range *ranges;	/* by CPU; paths: one */
};

struct chunk {
	struct chunk *next;
	struct writer_file *to;
	char *data;			/* a frame: its header, and writer->size bytes at most */
};

struct writer {
	size_t size;
	__u64 limit;			/* bytes of all files, 0: none */
	pthread_t thread;
	bool running;
	pthread_mutex_t lock;		/* of what follows */
	pthread_cond_t change;
	struct chunk *free;
	unsigned int chunks;		/* that there are */
	struct chunk *first, **last;	/* to be written */
	bool finish;
	__u64 bytes;			/* of all files; the thread's own */
	atomic_bool full;		/* the limit is reached: nothing more is written */
	atomic_bool failed;		/* likewise, and why: */
	char *error;
};

/* False when there is no thread to be had. */
bool writer_start(struct writer *w, size_t size, __u64 limit);

/* A file is there: its bytes count. */
void writer_add(struct writer *w, struct writer_file *f);

/* Waits until there is a chunk. */
struct chunk *writer_take(struct writer *w);
void writer_put(struct writer *w, struct chunk *chunk);

/* Returns a chunk that is not to be written. */
void writer_give(struct writer *w, struct chunk *chunk);

/* All that was put is written, as far as it could be. May be called twice. */
void writer_finish(struct writer *w);
void writer_free(struct writer *w);

static inline bool writer_works(const struct writer *w)
{
	return !w->full && !w->failed;
}

/* Where the content of a chunk begins. */
static inline char *chunk_content(const struct chunk *chunk)
{
	return chunk->data + sizeof(struct trace_frame);
}

#endif /* TOOL_WRITER_H */
