// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/say.h"
#include "base/xalloc.h"
#include "trace/read.h"
#include "trace/transpose.h"

/* Returns bytes read, fewer than @size only at the end of the file or on an error. */
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

/* Reports what is damaged. What could not be read for lack of memory is not. */
static void __attribute__((format(printf, 2, 3)))
damaged(struct trace_reader *r, const char *format, ...)
{
	va_list args;
	char *text;

	if (xalloc_failed())
		return;
	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	r->damaged = true;
	r->damages++;
	if (text && !r->quiet)
		cli_say_of(r->name, "%s", text);
	free(text);
}

/* Whether the file has zeroes from @used up to the next multiple of TRACE_ALIGN. */
static bool is_padded(const struct trace_reader *r, __u64 used)
{
	size_t size = -used & (TRACE_ALIGN - 1), i;
	char rest[TRACE_ALIGN];

	if (read_at(r->fd, rest, size, used) < size)
		return false;
	for (i = 0; i < size; i++)
		if (rest[i])
			return false;
	return true;
}

bool trace_reader_knows(__u64 version, __u64 schema)
{
	return version >= TRACE_STREAM_OLDEST && version <= IOT_STREAM_VERSION &&
	       schema == iot_schema_hash();
}

static int check_stream(struct trace_reader *r, const struct iot_stream_header *like)
{
	const struct iot_stream_header *h = &r->header;

	if (!trace_reader_knows(h->version, h->schema)) {
		cli_say_of(r->name, "the trace has stream version %u schema %016llx, this tool reads version %d schema %016llx: use the tool that recorded it",
			   h->version, (unsigned long long)h->schema, IOT_STREAM_VERSION,
			   (unsigned long long)iot_schema_hash());
		return CLI_FAILED;
	}
	if (h->layout != like->layout ||
	    (like->record_size && (h->event != like->event || !h->cpus ||
				   h->record_size != like->record_size ||
				   h->cpus > like->cpus))) {
		cli_say_of(r->name, "is another file: layout %u, event %u, records of %u bytes, %u CPUs",
			   h->layout, h->event, h->record_size, h->cpus);
		return CLI_FAILED;
	}
	return CLI_OK;
}

/* A damaged header is not used: @like, the expected one, replaces it. */
static int check_header(struct trace_reader *r, const struct iot_stream_header *like)
{
	struct trace_header h = { 0 };
	size_t n = read_at(r->fd, &h, sizeof(h), 0);

	r->header = h.stream;
	if (n == sizeof(h) && h.checksum == trace_header_checksum(&h) &&
	    h.stream.magic == TRACE_MAGIC && h.stream.header_size == sizeof(h)) {
		if (!is_padded(r, sizeof(h)))
			damaged(r, "is damaged or cut off after its header");
		return check_stream(r, like);
	}
	if (n >= sizeof(h.stream) && (h.stream.magic == TRACE_MAGIC_OLD || h.stream.magic == TRACE_MAGIC_OLDEST)) {
		cli_say_of(r->name, "has the format of an older version: use the tool that recorded it");
		return CLI_FAILED;
	}
	r->header = *like;
	damaged(r, n < sizeof(h) ? "ends within its header" : "its header is damaged");
	return CLI_OK;
}

int trace_reader_open(struct trace_reader *r, const char *directory, const char *file,
		      const struct iot_stream_header *like)
{
	struct stat st;

	*r = (struct trace_reader){ .fd = -1, .name = xasprintf("%s/%s", directory, file) };
	if (!r->name)
		return CLI_FAILED;
	r->fd = open(r->name, O_RDONLY | O_CLOEXEC);
	if (r->fd < 0 || fstat(r->fd, &st)) {
		cli_say_of(r->name, "cannot read: %s", strerror(errno));
		return CLI_FAILED;
	}
	r->size = st.st_size;
	r->at = TRACE_ALIGN;
	posix_fadvise(r->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return check_header(r, like);
}

void trace_reader_close(struct trace_reader *r)
{
	if (r->fd >= 0)
		close(r->fd);
	free(r->packed);
	free(r->transposed);
	free(r->name);
	*r = (struct trace_reader){ .fd = -1 };
}

static bool is_sane(const struct trace_frame *f)
{
	if (f->magic != TRACE_FRAME_MAGIC || f->checksum != trace_frame_checksum(f) ||
	    f->size > TRACE_FRAME_MAX || f->stored > TRACE_FRAME_MAX)
		return false;
	return f->encoding == TRACE_ZSTD || f->encoding == TRACE_ZSTD_TRANSPOSED ||
	       (f->encoding == TRACE_RAW && f->stored == f->size);
}

static bool read_frame(const struct trace_reader *r, struct trace_frame *frame, __u64 at)
{
	return read_at(r->fd, frame, sizeof(*frame), at) == sizeof(*frame) && is_sane(frame) &&
	       frame->number >= r->number;
}

/* There is no frame at r->at: searches for one after that position. */
static bool find_frame(struct trace_reader *r, struct trace_frame *frame)
{
	__u64 from = r->at;

	do {
		r->at += TRACE_ALIGN;
	} while (r->at < r->size && !read_frame(r, frame, r->at));
	if (r->at < r->size) {
		damaged(r, "is damaged from byte %llu to %llu", (unsigned long long)from,
			(unsigned long long)r->at - 1);
		return true;
	}
	damaged(r, "is damaged or cut off: nothing can be read from byte %llu on",
		(unsigned long long)from);
	r->at = r->size;
	return false;
}

/* Whether the frame at r->at ends within the file. */
static bool is_all_there(struct trace_reader *r, const struct trace_frame *frame)
{
	__u64 end = r->at + sizeof(*frame) + frame->stored;

	if (end <= r->size) {
		if (!is_padded(r, end))
			damaged(r, "is damaged or cut off after frame %llu, at byte %llu",
				(unsigned long long)frame->number, (unsigned long long)end);
		return true;
	}
	damaged(r, "is cut off within frame %llu, at byte %llu",
		(unsigned long long)frame->number, (unsigned long long)r->size);
	r->at = r->size;
	return false;
}

bool trace_reader_next(struct trace_reader *r, struct trace_frame *frame, __u64 *at)
{
	if (r->at >= r->size || (!read_frame(r, frame, r->at) && !find_frame(r, frame)))
		return false;
	if (frame->number > r->number)
		damaged(r, "frames %llu to %llu are missing", (unsigned long long)r->number,
			(unsigned long long)frame->number - 1);
	r->number = frame->number + 1;
	if (!is_all_there(r, frame))
		return false;
	*at = r->at;
	r->at += trace_frame_length(frame);
	return true;
}

static void *make_room(char **data, size_t *room, size_t size)
{
	if (size <= *room)
		return *data;
	if (!xgrow(data, size, 1))
		return NULL;
	*room = size;
	return *data;
}

static bool unpack(char *to, const char *packed, const struct trace_frame *f)
{
	size_t size = ZSTD_decompress(to, f->size, packed, f->stored);

	if (ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation)
		xchecked(NULL);
	return size == f->size;
}

static bool load(struct trace_reader *r, __u64 at, char **data, size_t *room,
		 const struct trace_frame *f)
{
	char *content = make_room(data, room, f->size), *transposed;
	bool raw = f->encoding == TRACE_RAW;
	char *to = raw ? content : make_room(&r->packed, &r->room, f->stored);

	if (xalloc_failed())
		return false;
	if (read_at(r->fd, to, f->stored, at) < f->stored ||
	    trace_checksum(to, f->stored) != f->data_checksum)
		return false;
	if (f->encoding != TRACE_ZSTD_TRANSPOSED)
		return raw || unpack(content, to, f);
	transposed = make_room(&r->transposed, &r->transposed_room, f->size);
	return transposed && unpack(transposed, to, f) &&
	       trace_transpose_back(content, transposed, f->size, r->header.record_size);
}

bool trace_reader_load(struct trace_reader *r, __u64 at, char **data, size_t *room,
		       struct trace_frame *frame)
{
	if (read_at(r->fd, frame, sizeof(*frame), at) == sizeof(*frame) && is_sane(frame) &&
	    load(r, at + sizeof(*frame), data, room, frame)) {
		r->frames++;
		return true;
	}
	damaged(r, "the frame at byte %llu is damaged", (unsigned long long)at);
	return false;
}

void trace_reader_damaged(struct trace_reader *r, __u64 at, const struct trace_frame *frame)
{
	r->frames--;
	damaged(r, "frame %llu, at byte %llu, is damaged", (unsigned long long)frame->number,
		(unsigned long long)at);
}

bool trace_reader_check(struct trace_reader *r, __u64 frames, __u64 bytes)
{
	if (r->frames != frames)
		damaged(r, "%llu of %llu frames can be read", (unsigned long long)r->frames,
			(unsigned long long)frames);
	if (r->size != bytes)
		damaged(r, "has %llu bytes, %llu were recorded",
			(unsigned long long)r->size, (unsigned long long)bytes);
	return r->frames == frames && r->size == bytes;
}
