// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "record/writer.h"

#define CHUNKS 16

static void extend(struct writer_range *range, __u64 first, __u64 next)
{
	if (!range->any)
		range->first = first;
	range->any = true;
	range->next = next;
}

/* Adds the paths of a frame to the range. */
static void count_paths(struct writer_file *f, const char *content, size_t size)
{
	struct iot_path_record p;
	size_t at;

	for (at = 0; at < size; at += sizeof(p) + ((p.length + 7) & ~(size_t)7)) {
		memcpy(&p, content + at, sizeof(p));
		extend(&f->ranges[0], p.id, p.id + 1);
	}
}

/* Adds the blocks of a frame, up to its notes, to the losses and ranges of the CPUs. */
static void count_blocks(struct writer_file *f, const char *content, size_t size,
			 size_t record)
{
	struct iot_stream_block b;
	size_t at;

	for (at = 0; size - at >= sizeof(b); at += sizeof(b) + b.count * record) {
		memcpy(&b, content + at, sizeof(b));
		if (b.magic != IOT_STREAM_BLOCK_MAGIC)
			return;
		f->lost += b.gap;
		f->lost_by_cpu[b.cpu] += b.gap;
		extend(&f->ranges[b.cpu], b.first - b.gap, b.first + b.count);
	}
}

void writer_count(struct writer_file *f, const char *content, const struct trace_frame *frame)
{
	f->bytes = f->file.end;
	f->events += frame->events;
	if (f->cpus)
		count_blocks(f, content, frame->size, f->record);
	else
		count_paths(f, content, frame->size);
}

static void write_chunk(struct writer *w, struct chunk *chunk)
{
	struct writer_file *f = chunk->to;
	__u64 most = !w->limit ? ~0ULL : w->limit > w->bytes ? w->limit - w->bytes : 0;
	__u64 before = f->file.end;
	struct trace_frame frame;
	int err = trace_file_put(&f->file, chunk->data, most);

	if (err == TRACE_FULL) {
		w->full = true;
		return;
	}
	if (err) {
		w->error = xasprintf("%s: %s", f->name, strerror(-err));
		w->failed = true;
		return;
	}
	memcpy(&frame, chunk->data, sizeof(frame));
	w->bytes += f->file.end - before;
	writer_count(f, chunk_content(chunk), &frame);
}

static void *work(void *data)
{
	struct writer *w = data;
	struct chunk *chunk;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		while (!w->first && !w->finish)
			pthread_cond_wait(&w->change, &w->lock);
		chunk = w->first;
		if (!chunk)
			break;
		w->first = chunk->next;
		if (!w->first)
			w->last = &w->first;
		pthread_mutex_unlock(&w->lock);
		if (writer_works(w))
			write_chunk(w, chunk);
		writer_give(w, chunk);
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

bool writer_restart(struct writer *w)
{
	int err;

	w->finish = false;
	err = pthread_create(&w->thread, NULL, work, w);
	w->running = !err;
	if (err)
		cli_say("cannot start a thread: %s", strerror(err));
	return !err;
}

bool writer_start(struct writer *w, size_t size, __u64 limit)
{
	*w = (struct writer){ .size = size, .limit = limit };
	w->last = &w->first;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->change, NULL);
	return writer_restart(w);
}

void writer_add(struct writer *w, struct writer_file *f)
{
	w->bytes += f->file.end;
	f->bytes = f->file.end;
}

/* Chunks are allocated when they are needed, CHUNKS at most. */
static struct chunk *new_chunk(struct writer *w)
{
	struct chunk *chunk = xreallocarray(NULL, 1, sizeof(*chunk));

	*chunk = (struct chunk){ .data = trace_frame_alloc(w->size) };
	w->chunks++;
	return chunk;
}

struct chunk *writer_take(struct writer *w)
{
	struct chunk *chunk;

	pthread_mutex_lock(&w->lock);
	while (!w->free && w->chunks == CHUNKS)
		pthread_cond_wait(&w->change, &w->lock);
	chunk = w->free ? w->free : new_chunk(w);
	w->free = chunk->next;
	pthread_mutex_unlock(&w->lock);
	return chunk;
}

void writer_put(struct writer *w, struct chunk *chunk)
{
	chunk->next = NULL;
	pthread_mutex_lock(&w->lock);
	*w->last = chunk;
	w->last = &chunk->next;
	pthread_cond_broadcast(&w->change);
	pthread_mutex_unlock(&w->lock);
}

void writer_give(struct writer *w, struct chunk *chunk)
{
	pthread_mutex_lock(&w->lock);
	chunk->next = w->free;
	w->free = chunk;
	pthread_cond_broadcast(&w->change);
	pthread_mutex_unlock(&w->lock);
}

void writer_finish(struct writer *w)
{
	if (!w->running)
		return;
	pthread_mutex_lock(&w->lock);
	w->finish = true;
	pthread_cond_broadcast(&w->change);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	w->running = false;
}

void writer_free(struct writer *w)
{
	struct chunk *chunk;

	writer_finish(w);
	while ((chunk = w->free)) {
		w->free = chunk->next;
		free(chunk->data);
		free(chunk);
	}
	free(w->error);
	w->error = NULL;
}
