// SPDX-License-Identifier: GPL-2.0
/*
 * The packets of a Perfetto trace. They are one sequence; a reader sorts their events by time, and
 * takes those of one moment in the order of the packets. Times are those of CLOCK_MONOTONIC, and
 * two snapshots of the clocks tell the time of day.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/protobuf.h"
#include "base/say.h"
#include "base/xalloc.h"
#include "core/names.h"
#include "trace/check.h"
#include "trace/paths.h"
#include "trace/perfetto_parts.h"
#include "trace/record.h"
#include "uapi/iotracer.h"

/* A field that slices have as an argument. */
struct perfetto_field {
	const struct row_column *column;
	enum { AS_UINT, AS_INT, AS_POINTER, AS_PATH, AS_TEXT } as;
	bool always;		/* also if it has the value @not, with which others are left out */
	bool has_zero;		/* of AS_TEXT: 0 has a text, too, which tells nothing */
	__u64 not;
	__u32 word;
};

/* --- packets --------------------------------------------------------------------------- */

static char *put_clock(char *out, unsigned int id, __u64 time)
{
	char *clock = protobuf_open(out, SNAPSHOT_CLOCK);

	out = protobuf_u64(clock, CLOCK_ID, id);
	return protobuf_close(clock, protobuf_u64(out, CLOCK_TIME, time));
}

static void write_clocks(struct perfetto *p, __u64 monotonic)
{
	char *snapshot = protobuf_open(perfetto_packet(p, 0), PACKET_CLOCK_SNAPSHOT);
	char *out = put_clock(snapshot, CLOCK_IS_MONOTONIC, monotonic);

	out = put_clock(out, CLOCK_IS_REALTIME, wall_time(&p->check->clock, monotonic));
	out = protobuf_u64(out, SNAPSHOT_PRIMARY, CLOCK_IS_MONOTONIC);
	perfetto_packet_end(p, protobuf_close(snapshot, out));
}

/* The first packet: it says which clock times of other packets are of. */
static void write_first(struct perfetto *p)
{
	char *out = protobuf_open(output_row(&p->output), TRACE_PACKET), *defaults;

	out = protobuf_u64(out, PACKET_SEQUENCE, PERFETTO_SEQUENCE);
	out = protobuf_u64(out, PACKET_FLAGS, FLAG_CLEARED);
	defaults = protobuf_open(out, PACKET_DEFAULTS);
	out = protobuf_u64(defaults, PACKET_CLOCK, CLOCK_IS_MONOTONIC);
	perfetto_packet_end(p, protobuf_close(defaults, out));
}

static const char *text_of(const struct metadata *m, const char *name)
{
	const char *text = json_string_value(json_object_get(m->document, name));

	return text ? text : "";
}

static void write_system(struct perfetto *p)
{
	const struct metadata *m = &p->check->metadata;
	char *system = protobuf_open(perfetto_packet(p, 0), PACKET_SYSTEM_INFO);
	char *utsname = protobuf_open(system, SYSTEM_UTSNAME), *out;

	out = protobuf_text(utsname, UTSNAME_SYSNAME, "Linux");
	out = protobuf_close(utsname, protobuf_text(out, UTSNAME_RELEASE, text_of(m, "kernel")));
	if (!p->anonymizer && !m->anonymized)
		out = protobuf_text(out, SYSTEM_NAME, text_of(m, "host"));
	perfetto_packet_end(p, protobuf_close(system, out));
}

bool perfetto_begin(struct perfetto *p)
{
	const struct metadata *m = &p->check->metadata;

	output_open(&p->output);
	p->last = m->begin.monotonic;
	p->paths_written = xreallocarray(NULL, p->paths->nr / 8 + 1, 1);
	memset(p->paths_written, 0, p->paths->nr / 8 + 1);
	if (!output_begin(&p->output, wall_time(&p->check->clock, m->begin.monotonic))) {
		p->failed = true;
		return false;
	}
	write_first(p);
	write_clocks(p, m->begin.monotonic);
	if (m->end.monotonic > m->begin.monotonic)
		write_clocks(p, m->end.monotonic);
	write_system(p);
	return !p->failed;
}

/* --- events ---------------------------------------------------------------------------- */

/* The start of an event. @name: a number, or 0 for none. *content: for end_event(). */
static char *begin_event(struct perfetto *p, __u64 time, unsigned int type, __u32 track, __u32 name,
			 char **content)
{
	char *out = protobuf_open(perfetto_packet(p, time ? time : 1), PACKET_TRACK_EVENT);

	*content = out;
	out = protobuf_u64(out, EVENT_TYPE, type);
	out = protobuf_u64(out, EVENT_TRACK, perfetto_uuid(track));
	if (!name)
		return out;
	out = protobuf_u64(out, EVENT_CATEGORY, p->category_word);
	return protobuf_u64(out, EVENT_NAME, name);
}

static bool end_event(struct perfetto *p, char *content, char *end)
{
	return perfetto_packet_end(p, protobuf_close(content, end));
}

static char *put_number(char *out, __u32 word, unsigned int as, __u64 n)
{
	char *argument = protobuf_open(out, EVENT_ARGUMENT);

	out = protobuf_u64(argument, ARGUMENT_NAME, word);
	return protobuf_close(argument, protobuf_u64(out, as, n));
}

/* The text that a column shows; nothing if that is empty. */
static char *put_text(struct perfetto *p, char *out, __u32 word, const struct row_column *column,
		      row_put put, const void *record)
{
	char *argument = protobuf_open(out, EVENT_ARGUMENT), *text, *end;

	text = protobuf_open(protobuf_u64(argument, ARGUMENT_NAME, word), ARGUMENT_TEXT);
	end = put(&p->printer, column, text, record);
	if (end == text)
		return out;
	return protobuf_close(argument, protobuf_close(text, end));
}

static __u64 value_of(const struct perfetto_field *f, const void *record)
{
	__u64 n = record_scalar(record, f->column->offset, f->column->size);

	return f->as == AS_INT && f->column->size == sizeof(__s32) ? (__u64)(__s64)(__s32)n : n;
}

static char *put_field(struct perfetto *p, char *out, const struct perfetto_field *f, const void *record)
{
	__u64 n;

	if (f->has_zero && !value_of(f, record))
		return out;
	if (f->as == AS_TEXT)
		return put_text(p, out, f->word, f->column, f->column->put, record);
	n = value_of(f, record);
	if (n == f->not && !f->always)
		return out;
	switch (f->as) {
	case AS_PATH:
		if (!names_find(p->paths, n))
			return put_text(p, out, f->word, f->column, f->column->put, record);
		return put_number(out, f->word, ARGUMENT_TEXT_NUMBER, n - p->paths->base + 1);
	case AS_POINTER:
		return put_number(out, f->word, ARGUMENT_POINTER, n);
	default:
		return put_number(out, f->word, f->as == AS_INT ? ARGUMENT_INT : ARGUMENT_UINT, n);
	}
}

static char *put_fields(struct perfetto *p, char *out, const void *record, const struct measure *m)
{
	const char *error = m->error ? strerrorname_np(m->error) : NULL;
	size_t i;

	if (error) {
		char *argument = protobuf_open(out, EVENT_ARGUMENT);

		out = protobuf_u64(argument, ARGUMENT_NAME, p->error_word);
		out = protobuf_close(argument, protobuf_text(out, ARGUMENT_TEXT, error));
	}
	for (i = 0; i < p->nr_fields; i++)
		out = put_field(p, out, &p->fields[i], record);
	return p->printer.note ? put_text(p, out, p->command_word, NULL, row_note, record) : out;
}

/* Writes the paths of a record that no packet has had yet. */
static void write_paths(struct perfetto *p, const void *record)
{
	size_t i;

	for (i = 0; i < p->nr_fields; i++) {
		const struct perfetto_field *f = &p->fields[i];
		const struct name *name;
		__u64 n;

		if (f->as != AS_PATH)
			continue;
		n = value_of(f, record) - p->paths->base;
		name = names_find(p->paths, n + p->paths->base);
		if (!name || p->paths_written[n / 8] & 1 << n % 8)
			continue;
		p->paths_written[n / 8] |= 1 << n % 8;
		perfetto_intern(p, INTERNED_TEXT, n + 1, name->text, name->length);
	}
}

static __u32 op_word(struct perfetto *p, const void *record)
{
	__u16 op;
	const char *name;
	char text[32];

	memcpy(&op, (const char *)record + p->printer.op_offset, sizeof(op));
	name = iot_names_op_name(p->printer.event->id, op);
	if (!name)
		snprintf(text, sizeof(text), "operation %u", op);
	return perfetto_word(p, name ? name : text, INTERNED_NAME);
}

/* What is drawn of a record, but where. */
struct shape {
	__u64 begin, end;
	__u32 name;
	__u64 flow;		/* 0: none */
};

static bool write_shape(struct perfetto *p, const struct shape *s, __u32 track, const void *record,
			const struct measure *m)
{
	bool lasts = s->end > s->begin;
	char *out, *content;

	if (track == PERFETTO_NO_TRACK)
		return false;
	out = begin_event(p, s->begin, lasts ? TYPE_BEGIN : TYPE_INSTANT, track, s->name, &content);
	if (s->flow)
		out = protobuf_fixed64(out, EVENT_FLOW, s->flow);
	if (!end_event(p, content, put_fields(p, out, record, m)) || !lasts)
		return !p->failed;
	out = begin_event(p, s->end, TYPE_END, track, 0, &content);
	return end_event(p, content, out);
}

/* Draws it on a track, or in the lane of it that is free. */
static bool draw(struct perfetto *p, const struct shape *s, __u32 track, bool nests, const void *record,
		 const struct measure *m)
{
	__u32 lane;

	if (track == PERFETTO_NO_TRACK || s->end == s->begin)
		return write_shape(p, s, track, record, m);
	p->tracks[track].lanes.nests = nests;
	lane = lanes_take(&p->tracks[track].lanes, s->begin, s->end);
	if (lane == LANES_NONE) {
		cli_say_of(p->check->trace, "%s: more than %u operations at the same time: select some with --filter or --from and --to",
			   p->category->name, LANES_MOST);
		p->failed = true;
		return false;
	}
	return write_shape(p, s, perfetto_lane(p, track, lane), record, m);
}

static bool write_depth(struct perfetto *p, __u32 disk, bool all)
{
	char *out, *content;
	__u32 track;

	while (depth_next(&p->tracks[disk].depth, all)) {
		track = perfetto_depth(p, disk);
		if (track == PERFETTO_NO_TRACK)
			return false;
		out = begin_event(p, p->tracks[disk].depth.time, TYPE_COUNTER, track, 0, &content);
		out = protobuf_u64(out, EVENT_VALUE, p->tracks[disk].depth.value);
		if (!end_event(p, content, out))
			return false;
	}
	return !p->failed;
}

/*
 * A request: the moment at which its thread made it, on the track of that, and a slice of the disk.
 * Both have the flow: an arrow leads from the earlier one, which is that of the thread, as its
 * packet is the first.
 */
static bool put_request(struct perfetto *p, struct shape *s, const void *record, const struct measure *m)
{
	const char *name = (const char *)record + p->disk->offset;
	__u32 thread = perfetto_thread(p, record), disk;
	char *out, *content;

	if (thread == PERFETTO_NO_TRACK)
		return false;
	s->flow = ++p->flows;
	out = begin_event(p, s->begin, TYPE_INSTANT, thread, perfetto_word(p, "submit", INTERNED_NAME),
			  &content);
	if (!end_event(p, content, protobuf_fixed64(out, EVENT_FLOW, s->flow)))
		return false;
	disk = perfetto_disk(p, name, strnlen(name, p->disk->size));
	if (!draw(p, s, disk, false, record, m))
		return false;
	if (s->end > s->begin)
		depth_add(&p->tracks[disk].depth, s->begin, s->end);
	return write_depth(p, disk, false);
}

/* A record whose times cannot be is drawn as a moment. */
static void measure_shape(struct perfetto *p, const void *record, struct measure *m, struct shape *s)
{
	measure(&p->measurer, record, m);
	*s = (struct shape){ .begin = m->time, .end = m->time + m->latency };
	if (s->end < s->begin || s->end > PERFETTO_MOST_TIME)
		s->end = s->begin;
	if (s->end > p->last)
		p->last = s->end;
}

bool perfetto_miss(struct perfetto *p, const void *record, unsigned int cpu, __u64 missing)
{
	__u32 track = perfetto_missing(p), name, cpu_word, count_word;
	char *out, *content;
	struct measure m;
	struct shape s;

	if (track == PERFETTO_NO_TRACK)
		return false;
	measure_shape(p, record, &m, &s);
	name = perfetto_word(p, "events are missing", INTERNED_NAME);
	cpu_word = perfetto_word(p, "cpu", INTERNED_ARGUMENT);
	count_word = perfetto_word(p, "count", INTERNED_ARGUMENT);
	out = begin_event(p, s.end, TYPE_INSTANT, track, name, &content);
	out = put_number(out, cpu_word, ARGUMENT_UINT, cpu);
	return end_event(p, content, put_number(out, count_word, ARGUMENT_UINT, missing));
}

bool perfetto_put(struct perfetto *p, const void *record, const char *note, size_t length)
{
	const struct iot_schema_event *event = p->printer.event;
	struct measure m;
	struct shape s;

	measure_shape(p, record, &m, &s);
	basis_add(&p->basis, m.weight);
	p->printer.note = note;
	p->printer.note_length = length;
	write_paths(p, record);
	s.name = op_word(p, record);
	if (event->id == IOT_EVENT_ID_BLOCK)
		return put_request(p, &s, record, &m);
	if (event->id == IOT_EVENT_ID_FS)
		return draw(p, &s, perfetto_thread(p, record), true, record, &m);
	return draw(p, &s, perfetto_of_category(p, record), event->id != IOT_EVENT_ID_URING, record, &m);
}

/* --- categories ------------------------------------------------------------------------ */

static void add_field(struct perfetto *p, const struct row_column *c)
{
	/* What the track, the name and the times of the slice tell. */
	static const char *const others[] = { "time", "latency", "op", "pid", "tid", "comm" };
	static const char *const always[] = { "seq", "cpu", "offset", "requested", "result" };
	struct perfetto_field f = { .column = c, .as = AS_TEXT };
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!c->field || !strcmp(c->field, others[i]))
			return;
	for (i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		f.always |= !strcmp(c->field, always[i]);
	f.has_zero = !strcmp(c->kind, "device") || !strcmp(c->kind, "fskind");
	f.not = !strcmp(c->field, "sample");
	if (!strcmp(c->kind, "decimal") || !strcmp(c->kind, "sqeoff"))
		f.as = AS_UINT;
	else if (!strcmp(c->kind, "signed") || !strcmp(c->kind, "returned"))
		f.as = AS_INT;
	else if (!strcmp(c->kind, "hex") || !strcmp(c->kind, "address"))
		f.as = AS_POINTER;
	else if (!strcmp(c->kind, "path"))
		f.as = AS_PATH;
	f.word = perfetto_word(p, c->name, INTERNED_ARGUMENT);
	p->fields[p->nr_fields++] = f;
}

bool perfetto_begin_category(struct perfetto *p, const struct category *category)
{
	size_t i;

	p->category = category;
	p->basis = (struct basis){ .records = 0 };
	p->printer = (struct row_printer){
		.event = category_event(category), .bare = true, .clock = &p->check->clock, .paths = p->paths,
		.anonymizer = p->anonymizer,
	};
	row_printer_open_own(&p->printer, false);
	measurer_open(&p->measurer, p->printer.event);
	p->pid = record_field(p->printer.event, "pid");
	p->tid = record_field(p->printer.event, "tid");
	p->disk = record_field(p->printer.event, "disk");
	p->fields = xreallocarray(NULL, p->printer.nr_columns, sizeof(*p->fields));
	p->nr_fields = 0;
	for (i = 0; i < p->printer.nr_columns; i++) {
		add_field(p, &p->printer.columns[i]);
		if (!strcmp(p->printer.columns[i].name, "comm"))
			p->comm = &p->printer.columns[i];
	}
	p->category_word = perfetto_word(p, category->name, INTERNED_CATEGORY);
	p->error_word = perfetto_word(p, "errno", INTERNED_ARGUMENT);
	p->command_word = perfetto_word(p, "cmdline", INTERNED_ARGUMENT);
	return !p->failed;
}

/* What the figures of the category rest on, at the end of the trace. */
static void write_counts(struct perfetto *p, const struct basis *basis)
{
	const struct { const char *name; __u64 count; } all[] = {
		{ "records", basis->records }, { "sampled", basis->sampled }, { "lost", basis->lost },
		{ "missed", basis->missed }, { "unreadable", basis->unreadable },
	};
	__u32 words[sizeof(all) / sizeof(all[0])];
	__u32 track = perfetto_missing(p), name;
	char *out, *content;
	size_t i;

	if (track == PERFETTO_NO_TRACK)
		return;
	name = perfetto_word(p, "totals", INTERNED_NAME);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		words[i] = perfetto_word(p, all[i].name, INTERNED_ARGUMENT);
	out = begin_event(p, p->last, TYPE_INSTANT, track, name, &content);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		out = put_number(out, words[i], ARGUMENT_UINT, all[i].count);
	end_event(p, content, out);
}

bool perfetto_end_category(struct perfetto *p)
{
	__u32 i;

	for (i = 0; !p->failed && i < p->keys.nr; i++)
		write_depth(p, i, true);
	if (!p->failed)
		write_counts(p, &p->basis);
	row_printer_close(&p->printer);
	free(p->fields);
	p->fields = NULL;
	return !p->failed;
}

bool perfetto_end(struct perfetto *p)
{
	bool good = output_close(&p->output) && !p->failed;

	perfetto_free_tracks(p);
	intern_free(&p->words);
	free(p->paths_written);
	return good;
}
