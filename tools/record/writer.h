/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread that writes what another thread reads, so that reading continues
 * while the disk is busy. Chunks are written in the order of writer_put().
 */
#ifndef TOOL_RECORD_WRITER_H
#define TOOL_RECORD_WRITER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "trace/write.h"

/* The range that was written: seq of one CPU, or ids of paths. */
struct writer_range {
	bool any;
	__u64 first, next;		/* @next is one after the last */
};

/* A file that is being written, and its counts. */
struct writer_file {
	struct trace_file file;
	char *name;
	unsigned int cpus;		/* 0: paths */
	size_t record;			/* bytes of one record */
	atomic_ullong events, lost;	/* events or paths: written, and missing before them */
	atomic_ullong bytes;
	/* Read these only after writer_finish(): */
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
	__u64 limit;			/* most bytes of all files, 0: no limit */
	pthread_t thread;
	bool running;
	pthread_mutex_t lock;		/* protects @free to @finish */
	pthread_cond_t change;
	struct chunk *free;
	unsigned int chunks;		/* allocated so far */
	struct chunk *first, **last;	/* chunks to be written */
	bool finish;
	atomic_ullong bytes;		/* bytes written to all files */
	atomic_bool full;		/* the limit is reached: nothing more is written */
	atomic_bool failed;		/* @error is set: nothing more is written */
	char *error;
};

/* False if the thread cannot be created. */
bool writer_start(struct writer *w, size_t size, __u64 limit);

/* Counts the bytes that a new file already has. */
void writer_add(struct writer *w, struct writer_file *f);

/* Takes an unused chunk, after waiting for one if necessary. */
struct chunk *writer_take(struct writer *w);
void writer_put(struct writer *w, struct chunk *chunk);

/* Returns a chunk that is not to be written. */
void writer_give(struct writer *w, struct chunk *chunk);

/* Counts a frame that was written, by its content and its header. */
void writer_count(struct writer_file *f, const char *content, const struct trace_frame *frame);

/* Waits until all chunks are written, as far as possible. May be called twice. */
void writer_finish(struct writer *w);

/* Continues after writer_finish(). False if the thread cannot be created. */
bool writer_restart(struct writer *w);
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

#endif /* TOOL_RECORD_WRITER_H */
