// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "cli.h"
#include "trace_read.h"

/* Bytes read, fewer than @size only at the end of the file or on an error. */
static size_t read_at(int fd, void *data, size_t size, __u64 at)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (char *)data + done, size - done, at + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += n;
	}
	return done;
}

static int check_header(struct trace_reader *r, unsigned int layout)
{
	const struct iot_stream_header *h = &r->header;

	if (read_at(r->fd, &r->header, sizeof(r->header), 0) < sizeof(r->header)) {
		cli_say_of(r->name, "ends within its header: nothing was recorded");
		return CLI_FAILED;
	}
	if (h->magic != TRACE_MAGIC) {
		cli_say_of(r->name, "is no file of a trace (wrong magic number)");
		return CLI_FAILED;
	}
	if (h->version != IOT_STREAM_VERSION || h->schema != iot_schema_hash()) {
		cli_say_of(r->name, "the trace has stream version %u schema %016llx, this tool reads version %d schema %016llx: use the tool that recorded it",
			   h->version, (unsigned long long)h->schema, IOT_STREAM_VERSION,
			   (unsigned long long)iot_schema_hash());
		return CLI_FAILED;
	}
	if (h->layout != layout || h->header_size != sizeof(*h)) {
		cli_say_of(r->name, "is damaged: layout %u, header of %u bytes", h->layout,
			   h->header_size);
		return CLI_FAILED;
	}
	return CLI_OK;
}

int trace_reader_open(struct trace_reader *r, const char *directory, const char *file,
		      unsigned int layout)
{
	struct stat st;

	*r = (struct trace_reader){ .name = cli_printf("%s/%s", directory, file) };
	r->fd = open(r->name, O_RDONLY | O_CLOEXEC);
	if (r->fd < 0 || fstat(r->fd, &st)) {
		cli_say_of(r->name, "cannot read: %s", strerror(errno));
		return CLI_FAILED;
	}
	r->size = st.st_size;
	r->at = TRACE_ALIGN;
	posix_fadvise(r->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return check_header(r, layout);
}

void trace_reader_close(struct trace_reader *r)
{
	if (r->fd >= 0)
		close(r->fd);
	free(r->packed);
	free(r->name);
	*r = (struct trace_reader){ .fd = -1 };
}

static bool is_sane(const struct trace_frame *f)
{
	if (f->magic != TRACE_FRAME_MAGIC || f->size > TRACE_FRAME_MAX ||
	    f->stored > TRACE_FRAME_MAX)
		return false;
	return f->encoding == TRACE_ZSTD ||
	       (f->encoding == TRACE_RAW && f->stored == f->size);
}

bool trace_reader_next(struct trace_reader *r, struct trace_frame *frame, __u64 *at)
{
	if (r->cut || r->at >= r->size)
		return false;
	if (read_at(r->fd, frame, sizeof(*frame), r->at) < sizeof(*frame) ||
	    !is_sane(frame) || r->at + sizeof(*frame) + frame->stored > r->size) {
		r->cut = true;
		return false;
	}
	*at = r->at;
	r->at += trace_frame_length(frame);
	return true;
}

static void *make_room(char **data, size_t *room, size_t size)
{
	if (size > *room) {
		*data = cli_grow(*data, size, 1);
		*room = size;
	}
	return *data;
}

static bool load(struct trace_reader *r, __u64 at, char **data, size_t *room,
		 const struct trace_frame *f)
{
	char *to;

	if (f->encoding == TRACE_RAW)
		return read_at(r->fd, make_room(data, room, f->size), f->size, at) == f->size;
	to = make_room(&r->packed, &r->room, f->stored);
	if (read_at(r->fd, to, f->stored, at) < f->stored)
		return false;
	return ZSTD_decompress(make_room(data, room, f->size), f->size, to,
			       f->stored) == f->size;
}

bool trace_reader_load(struct trace_reader *r, __u64 at, char **data, size_t *room,
		       struct trace_frame *frame)
{
	if (read_at(r->fd, frame, sizeof(*frame), at) == sizeof(*frame) && is_sane(frame) &&
	    load(r, at + sizeof(*frame), data, room, frame))
		return true;
	trace_reader_damaged(r, at);
	return false;
}

void trace_reader_damaged(struct trace_reader *r, __u64 at)
{
	r->cut = true;
	r->at = at;
}

void trace_reader_report(const struct trace_reader *r)
{
	if (r->cut)
		cli_say_of(r->name, "is cut off: it was read up to its last whole frame, before byte %llu",
			   (unsigned long long)r->at);
}
