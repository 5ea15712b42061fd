// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "cli.h"
#include "trace_write.h"

/* Writes all of it, changing @iov. 0 or a negative errno. */
static int write_all(int fd, struct iovec *iov, size_t nr)
{
	while (nr) {
		ssize_t n = writev(fd, iov, nr < IOV_MAX ? nr : IOV_MAX);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		for (; nr && (size_t)n >= iov->iov_len; iov++, nr--)
			n -= iov->iov_len;
		if (nr) {
			iov->iov_base = (char *)iov->iov_base + n;
			iov->iov_len -= n;
		}
	}
	return 0;
}

int trace_writer_open(struct trace_writer *w, int dir, const char *name,
		      const struct iot_stream_header *header, int level,
		      unsigned int frames)
{
	struct iot_stream_header h = *header;
	struct iovec iov = { &h, sizeof(h) };
	int err;

	*w = (struct trace_writer){ 0 };
	w->fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (w->fd < 0)
		return -errno;
	h.magic = TRACE_MAGIC;
	h.header_size = sizeof(h);
	err = write_all(w->fd, &iov, 1);
	if (err) {
		close(w->fd);
		w->fd = -1;
		return err;
	}
	w->end = sizeof(h);
	w->slots = cli_grow(NULL, frames, sizeof(*w->slots));
	memset(w->slots, 0, frames * sizeof(*w->slots));
	w->max_slots = frames;
	if (level) {
		w->zstd = ZSTD_createCCtx();
		if (!w->zstd)
			return -ENOMEM;
		ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, level);
		ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
	}
	return 0;
}

static void add_piece(struct trace_writer *w, const void *data, size_t size)
{
	if (w->nr_iov == w->room_iov) {
		w->room_iov = w->room_iov ? 2 * w->room_iov : 64;
		w->iov = cli_grow(w->iov, w->room_iov, sizeof(*w->iov));
	}
	w->iov[w->nr_iov++] = (struct iovec){ (void *)data, size };
	w->batch += size;
}

static char *make_room(char **data, size_t *room, size_t size)
{
	if (size > *room) {
		free(*data);
		*data = cli_grow(NULL, size, 1);
		*room = size;
	}
	return *data;
}

/* Puts the parts into the slot. False where they would not get smaller. */
static bool compress(struct trace_writer *w, struct trace_slot *slot,
		     const struct iovec *parts, size_t nr)
{
	size_t size = slot->header.size, bound = ZSTD_compressBound(size);
	char *flat = make_room(&w->flat, &w->room_flat, size);
	char *packed = make_room(&slot->packed, &slot->room, bound);
	size_t i, n;

	for (i = 0, n = 0; i < nr; n += parts[i++].iov_len)
		memcpy(flat + n, parts[i].iov_base, parts[i].iov_len);
	n = ZSTD_compress2(w->zstd, packed, bound, flat, size);
	if (ZSTD_isError(n) || n >= size)
		return false;
	slot->header.encoding = TRACE_ZSTD;
	slot->header.stored = n;
	return true;
}

void trace_writer_add(struct trace_writer *w, struct trace_frame frame,
		      const struct iovec *parts, size_t nr)
{
	struct trace_slot *slot = &w->slots[w->nr_slots++];
	size_t i;

	frame.magic = TRACE_FRAME_MAGIC;
	frame.encoding = TRACE_RAW;
	for (i = 0, frame.size = 0; i < nr; i++)
		frame.size += parts[i].iov_len;
	frame.stored = frame.size;
	slot->header = frame;
	add_piece(w, &slot->header, sizeof(slot->header));
	if (w->zstd && compress(w, slot, parts, nr)) {
		add_piece(w, slot->packed, slot->header.stored);
		return;
	}
	for (i = 0; i < nr; i++)
		add_piece(w, parts[i].iov_base, parts[i].iov_len);
}

void trace_writer_drop(struct trace_writer *w)
{
	w->nr_slots = 0;
	w->nr_iov = 0;
	w->batch = 0;
}

int trace_writer_commit(struct trace_writer *w)
{
	int err = write_all(w->fd, w->iov, w->nr_iov);

	if (!err)
		w->end += w->batch;
	else if (!ftruncate(w->fd, w->end))
		lseek(w->fd, w->end, SEEK_SET);
	trace_writer_drop(w);
	return err;
}

int trace_writer_close(struct trace_writer *w)
{
	unsigned int i;
	int err = 0;

	if (w->fd < 0)
		return 0;
	if (fsync(w->fd) && errno != EINVAL)
		err = -errno;
	if (close(w->fd) && !err)
		err = -errno;
	for (i = 0; i < w->max_slots; i++)
		free(w->slots[i].packed);
	free(w->slots);
	free(w->iov);
	free(w->flat);
	ZSTD_freeCCtx(w->zstd);
	*w = (struct trace_writer){ .fd = -1, .end = w->end };
	return err;
}
