// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/say.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "trace/anonymize.h"
#include "trace/metadata.h"
#include "trace/paths.h"
#include "trace/read.h"

bool name_is_plain(const char *text, size_t length)
{
	return csv_is_plain(text, length) && !memchr(text, '\\', length);
}

static bool make_room(struct paths *names, size_t bytes)
{
	size_t size = 2 * names->size + bytes + 4096;

	if (!names->size)
		names->used = 8;	/* offset 0 means none */
	if (names->used + bytes <= names->size)
		return true;
	if (!xgrow(&names->arena, size, 1))
		return false;
	names->size = size;
	return true;
}

static bool make_place(struct paths *names, __u64 id)
{
	size_t room = names->room;
	__u64 i;

	if (!names->nr)
		names->base = id;
	i = id - names->base;
	if (i < names->nr || i >= names->nr + PATHS_GAP)
		return false;
	while (room <= i)
		room = room ? 2 * room : 1024;
	if (room != names->room && !xgrow(&names->at, room, sizeof(*names->at)))
		return false;
	names->room = room;
	names->lost += i - names->nr;
	memset(names->at + names->nr, 0, (i + 1 - names->nr) * sizeof(*names->at));
	names->nr = i + 1;
	return true;
}

bool paths_add(struct paths *names, __u64 id, const char *bytes, size_t length)
{
	struct name *name;

	if (length > PATHS_BYTES || !make_room(names, sizeof(*name) + 4 * length + 8) ||
	    !make_place(names, id))
		return false;
	name = (struct name *)(names->arena + names->used);
	name->length = text_show_to(name->text, bytes, length);
	name->plain = name_is_plain(name->text, name->length);
	names->at[names->nr - 1] = names->used / 8;
	names->used += (sizeof(*name) + name->length + 1 + 7) & ~(size_t)7;
	return true;
}

static bool add_hidden(struct paths *names, const struct anonymizer *a,
		       const struct iot_path_record *r, const char *text)
{
	char hidden[ANONYMOUS_PATH(PATHS_BYTES / ANONYMOUS_GROWTH)];

	if (!a)
		return paths_add(names, r->id, text, r->length);
	if (r->length > PATHS_BYTES / ANONYMOUS_GROWTH)
		return false;
	return paths_add(names, r->id, hidden,
			 anonymize_path(a, hidden, text, r->length));
}

/* False if the frame is damaged; the paths before the damage are added. */
static bool add_frame(struct paths *names, const struct anonymizer *a,
		      const char *data, size_t size)
{
	size_t at = 0, padded;
	struct iot_path_record r;

	while (size - at >= sizeof(r)) {
		memcpy(&r, data + at, sizeof(r));
		at += sizeof(r);
		padded = ((size_t)r.length + 7) & ~(size_t)7;
		if (padded > size - at || !add_hidden(names, a, &r, data + at))
			return false;
		at += padded;
	}
	return at == size;
}

struct load {
	const struct anonymizer *anonymizer;
	char *data;
	size_t room;
	__u64 next;		/* number of the next frame */
};

/* Reports the paths up to the one before @id, which were written but cannot be read. */
static void tell_hole(struct paths *names, const struct trace_reader *r,
		      const struct metadata_file *expected, __u64 id)
{
	__u64 next = names->nr ? names->base + names->nr : expected ? expected->first : id;

	if (id <= next)
		return;
	names->damaged = true;
	cli_say_of(r->name, "paths are missing, shown as ?: those numbered %llu to %llu",
		   (unsigned long long)next, (unsigned long long)id - 1);
	if (names->nr)
		names->missing += id - next;
}

static void load_frame(struct paths *names, struct trace_reader *r, struct load *l,
		       __u64 at, const struct metadata_file *expected)
{
	struct iot_path_record first;
	struct trace_frame frame;

	if (!trace_reader_load(r, at, &l->data, &l->room, &frame))
		return;
	if (frame.number != l->next && frame.size >= sizeof(first)) {
		memcpy(&first, l->data, sizeof(first));
		tell_hole(names, r, expected, first.id);
	}
	if (!add_frame(names, l->anonymizer, l->data, frame.size))
		trace_reader_damaged(r, at, &frame);
	else
		l->next = frame.number + 1;
}

int paths_load(struct paths *names, const char *directory,
	       const struct metadata_file *expected, const struct anonymizer *anonymizer)
{
	const struct iot_stream_header like = { .layout = IOT_LAYOUT_PATHS };
	struct load l = { .anonymizer = anonymizer };
	struct trace_frame frame;
	struct trace_reader r;
	__u64 at;
	int status;

	*names = (struct paths){ 0 };
	status = trace_reader_open(&r, directory, TRACE_PATHS, &like);
	while (!status && trace_reader_next(&r, &frame, &at)) {
		load_frame(names, &r, &l, at, expected);
		status = xalloc_failed() ? CLI_FAILED : CLI_OK;
	}
	if (!status && expected) {
		tell_hole(names, &r, expected, expected->behind);
		trace_reader_check(&r, expected->frames, expected->bytes);
	}
	names->damaged |= r.damaged;
	names->lost = expected ? expected->lost : names->lost - names->missing;
	free(l.data);
	trace_reader_close(&r);
	return status;
}

void paths_free(struct paths *names)
{
	free(names->at);
	free(names->arena);
	*names = (struct paths){ 0 };
}
