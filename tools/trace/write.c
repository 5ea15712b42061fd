// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "trace/transpose.h"
#include "trace/write.h"

char *trace_frame_alloc(size_t size)
{
	return xaligned_alloc(TRACE_ALIGN, sizeof(struct trace_frame) + size + TRACE_ALIGN);
}

/* If a direct write is not possible, this and all further writes use the page cache. */
static bool use_cache(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && flags & O_DIRECT && !fcntl(fd, F_SETFL, flags & ~O_DIRECT);
}

static int write_all(int fd, const char *data, size_t size, __u64 at)
{
	while (size) {
		ssize_t n = pwrite(fd, data, size, at);

		if (n < 0 && (errno == EINTR || (errno == EINVAL && use_cache(fd))))
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		if (n % TRACE_ALIGN)
			use_cache(fd);
		data += n;
		size -= n;
		at += n;
	}
	return 0;
}

static int write_header(struct trace_file *f, const struct iot_stream_header *header)
{
	struct trace_header h = { .stream = *header };
	char *block = trace_frame_alloc(0);
	int err;

	h.stream.magic = TRACE_MAGIC;
	h.stream.header_size = sizeof(h);
	h.checksum = trace_header_checksum(&h);
	memset(block, 0, TRACE_ALIGN);
	memcpy(block, &h, sizeof(h));
	err = write_all(f->fd, block, TRACE_ALIGN, 0);
	free(block);
	f->end = TRACE_ALIGN;
	return err;
}

int trace_file_create(struct trace_file *f, int dir, const char *name,
		      const struct iot_stream_header *header, int level)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
	int err;

	*f = (struct trace_file){ .fd = -1 };
	frame_indexer_open(&f->indexer, header->layout == IOT_LAYOUT_BLOCKS ?
				       iot_schema_find(header->event) : NULL);
	if (level) {
		f->zstd = ZSTD_createCCtx();
		if (!f->zstd)
			return -ENOMEM;
		f->record = header->layout == IOT_LAYOUT_BLOCKS ? header->record_size : 0;
		ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_compressionLevel, level);
		ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_checksumFlag, 1);
	}
	f->fd = openat(dir, name, flags, 0600);
	if (f->fd < 0)
		return -errno;
	/* Not in open(2), which may create the file even if it then refuses O_DIRECT. */
	fcntl(f->fd, F_SETFL, O_DIRECT);
	err = write_header(f, header);
	if (err) {
		close(f->fd);
		f->fd = -1;
	}
	return err;
}

/* The frame's compressed form, or the frame as it is if that is not smaller. */
static char *compress(struct trace_file *f, char *data, struct trace_frame *frame)
{
	size_t bound = ZSTD_compressBound(frame->size), n;
	bool turned;

	if (!f->zstd)
		return data;
	if (bound > f->room) {
		free(f->packed);
		f->packed = trace_frame_alloc(bound);
		f->transposed = xreallocarray(f->transposed, bound, 1);
		f->room = bound;
	}
	turned = f->record && trace_transpose(f->transposed, data + sizeof(*frame), frame->size,
					      f->record);
	n = ZSTD_compress2(f->zstd, f->packed + sizeof(*frame), f->room,
			   turned ? f->transposed : data + sizeof(*frame), frame->size);
	if (ZSTD_isError(n) || n >= frame->size)
		return data;
	frame->encoding = turned ? TRACE_ZSTD_TRANSPOSED : TRACE_ZSTD;
	frame->stored = n;
	return f->packed;
}

int trace_file_put(struct trace_file *f, char *data, __u64 most)
{
	struct trace_frame frame;
	size_t length, used;
	char *from;
	int err;

	memcpy(&frame, data, sizeof(frame));
	frame.magic = TRACE_FRAME_MAGIC;
	frame.encoding = TRACE_RAW;
	frame.stored = frame.size;
	frame_index(&f->indexer, &frame.index, data + sizeof(frame), frame.size);
	from = compress(f, data, &frame);
	length = trace_frame_length(&frame);
	if (length > most)
		return TRACE_FULL;
	used = sizeof(frame) + frame.stored;
	frame.number = f->frames;
	frame.data_checksum = trace_checksum(from + sizeof(frame), frame.stored);
	frame.checksum = trace_frame_checksum(&frame);
	memcpy(from, &frame, sizeof(frame));
	memset(from + used, 0, length - used);
	err = write_all(f->fd, from, length, f->end);
	if (!err) {
		f->end += length;
		f->frames++;
	} else if (ftruncate(f->fd, f->end)) {
		cli_say("the trace ends with a part of a frame: %s", strerror(errno));
	}
	return err;
}

int trace_file_close(struct trace_file *f)
{
	int err = 0;

	if (f->fd >= 0 && fsync(f->fd) && errno != EINVAL)
		err = -errno;
	if (f->fd >= 0 && close(f->fd) && !err)
		err = -errno;
	free(f->packed);
	free(f->transposed);
	ZSTD_freeCCtx(f->zstd);
	*f = (struct trace_file){ .fd = -1, .end = f->end, .frames = f->frames };
	return err;
}
