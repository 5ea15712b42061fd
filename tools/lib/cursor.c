// SPDX-License-Identifier: GPL-2.0
/*
 * libiotracer: cursors. A cursor has a feed for each category of a trace: the records of its file,
 * merged over CPUs. The next record is that of the feed whose next event ended first. A stream is one
 * feed, whose records are read in batches that are sorted.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "core/names.h"
#include "lib/library.h"
#include "module/control.h"
#include "module/proc.h"
#include "trace/categories.h"
#include "trace/read.h"
#include "trace/record.h"

#define BATCH 65536	/* most records of a stream in memory, and those of one read more */

struct feed {
	struct iotracer_cursor *cursor;
	const char *name;			/* of the category */
	const struct category *category;	/* NULL: the stream of a file's target */
	const struct iot_schema_event *event;
	struct row_printer rows[3];		/* by enum row_form; opened when they are wanted */
	bool is_open[3];

	/* of a trace: */
	struct cpu_merge merge;
	struct check_file checked;
	const void *head;			/* the next record, NULL at the end */
	bool begun, ended;
	__u64 missing;
	void (*told)(void *data, const struct cpu_merge_hole *hole);	/* who is told of holes besides */
	void *told_data;

	/* of a stream: */
	struct records records;
	size_t at;				/* the next of them */
};

enum row_form { ROW_CSV, ROW_JSON, ROW_BARE };

struct iotracer_record {
	struct feed *feed;			/* NULL: there is none */
	const void *data;
	const char *note;
	size_t note_length;
};

struct iotracer_cursor {
	struct iotracer_trace *trace;
	struct feed *feeds;
	size_t nr;
	struct iotracer_record record;
	uint64_t from, to;			/* wall time */
	bool broken, ended;
	char *text;				/* of the last row, header or field; ROW_MAX bytes and a NUL */
};

/* --- opening and closing ------------------------------------------------------------------ */

static void count_hole(void *data, const struct cpu_merge_hole *hole)
{
	struct feed *s = data;

	s->missing += hole->last - hole->first + 1;
	s->told(s->told_data, hole);
}

/* The @i-th category of the trace. Returns an exit code. */
static int open_file(struct feed *s, struct iotracer_trace *t, size_t i)
{
	char *file = xasprintf("%s.iot", s->name);
	int status = CLI_FAILED;

	s->merge.reader.fd = -1;
	if (file)
		status = cpu_merge_open(&s->merge, t->directory, file, s->event);
	free(file);
	if (status)
		return status;
	check_begin(&t->check, &s->checked, s->name, i, &s->merge);
	s->told = s->merge.hole;
	s->told_data = s->merge.hole_data;
	s->merge.hole = count_hole;
	s->merge.hole_data = s;
	return CLI_OK;
}

static bool is_wanted(const char *name, const char *const *categories, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!strcmp(name, categories[i]))
			return true;
	return !nr;
}

/* A file of records that another version made is no file of this one. */
static bool is_foreign(const struct iotracer_trace *t)
{
	const json_t *version = json_object_get(t->check.metadata.document, "stream_version");
	const char *schema = json_string_value(json_object_get(t->check.metadata.document, "schema"));

	return !trace_reader_knows(json_integer_value(version),
				   schema ? strtoull(schema, NULL, 16) : iot_schema_hash());
}

static int open_trace(struct iotracer_cursor *c, const char *const *categories, size_t nr)
{
	struct iotracer_trace *t = c->trace;
	const char *name;
	int status = trace_load_names(t);
	size_t i;

	for (i = 0; !status && (name = metadata_category(&t->check.metadata, i)); i++) {
		struct feed *s = &c->feeds[c->nr];
		const struct category *category = category_find(name, strlen(name));

		if (!is_wanted(name, categories, nr))
			continue;
		if (!category) {
			cli_say_of(t->directory, "category %s is not known to this version", name);
			t->check.damaged = true;
			continue;
		}
		*s = (struct feed){
			.cursor = c, .name = category->name, .category = category,
			.event = category_event(category),
		};
		c->nr++;
		status = open_file(s, t, i);
	}
	return status;
}

static void open_stream(struct iotracer_cursor *c)
{
	struct live *live = &c->trace->live;

	c->nr = 1;
	c->feeds[0] = (struct feed){
		.cursor = c, .name = live->stream.event->name, .event = live->stream.event,
		.category = live->stream.category,
	};
	live->is_read = true;
}

/* The error for a category that the trace has not, or NULL. */
static struct iotracer_error *check_categories(struct iotracer_trace *t, const char *const *categories,
					       size_t nr)
{
	const char *name;
	size_t i, j;

	for (i = 0; i < nr; i++) {
		for (j = 0; (name = iotracer_trace_category(t, j)); j++)
			if (!strcmp(name, categories[i]))
				break;
		if (!name)
			return error_make(IOTRACER_NOT_FOUND, "%s has no category %s",
					  t->directory ? t->directory : t->live.name, categories[i]);
		if (t->directory && !category_find(name, strlen(name)))
			return error_make(IOTRACER_FOREIGN, "%s: category %s is not known to this version",
					  t->directory, name);
	}
	if (!t->directory && t->live.is_read)
		return error_make(IOTRACER_INVALID, "%s: a stream has one cursor, and this one has had it",
				  t->live.name);
	return NULL;
}

static size_t count_categories(const struct iotracer_trace *t)
{
	size_t nr = 0;

	while (iotracer_trace_category(t, nr))
		nr++;
	return nr;
}

EXPORTED struct iotracer_error *iotracer_cursor_open(struct iotracer_trace *trace,
						     const char *const *categories, size_t nr,
						     struct iotracer_cursor **cursor)
{
	struct iotracer_error *error = check_categories(trace, categories, nr);
	struct iotracer_cursor *c;
	struct call call;
	int status = CLI_OK;

	*cursor = NULL;
	if (error)
		return error;
	call_begin(&call, trace);
	c = calloc(1, sizeof(*c));
	if (c)
		c->feeds = calloc(count_categories(trace) + 1, sizeof(*c->feeds));
	if (!xchecked(c) || !xchecked(c->feeds)) {
		free(c);
		return call_end(&call, CLI_FAILED);
	}
	c->trace = trace;
	c->to = UINT64_MAX;
	if (trace->directory)
		status = open_trace(c, categories, nr);
	else
		open_stream(c);
	if (status && trace->directory && is_foreign(trace))
		call.code = IOTRACER_FOREIGN;
	error = call_end(&call, status);
	if (error)
		iotracer_cursor_close(c);
	else
		*cursor = c;
	return error;
}

static void close_feed(struct feed *s)
{
	size_t i;

	for (i = 0; i < sizeof(s->rows) / sizeof(s->rows[0]); i++)
		if (s->is_open[i])
			row_printer_close(&s->rows[i]);
	if (s->cursor->trace->directory)
		cpu_merge_close(&s->merge);
	records_free(&s->records);
}

EXPORTED void iotracer_cursor_close(struct iotracer_cursor *cursor)
{
	size_t i;

	if (!cursor)
		return;
	for (i = 0; i < cursor->nr; i++)
		close_feed(&cursor->feeds[i]);
	free(cursor->feeds);
	free(cursor->text);
	free(cursor);
}

EXPORTED void iotracer_cursor_limit(struct iotracer_cursor *cursor, uint64_t from, uint64_t to)
{
	cursor->from = from;
	cursor->to = to;
}

/* --- the next record ---------------------------------------------------------------------- */

static __u64 ended_at(const struct iot_schema_event *event, const void *record)
{
	return record_time(event, record) + record_latency(event, record);
}

/* Advances to the next record. */
static void step(struct feed *s)
{
	s->begun = true;
	s->head = cpu_merge_next(&s->merge);
	if (s->head || s->ended || xalloc_failed())
		return;
	s->ended = true;
	check_end(&s->checked, &s->merge);
}

static struct feed *first_of(struct iotracer_cursor *c)
{
	struct feed *first = NULL, *s;

	for (s = c->feeds; s < c->feeds + c->nr; s++)
		if (s->head && (!first || ended_at(s->event, s->head) < ended_at(first->event, first->head)))
			first = s;
	return first;
}

/* The record that was given before stays valid until here. */
static int next_of_trace(struct iotracer_cursor *c)
{
	struct feed *s;

	for (s = c->feeds; s < c->feeds + c->nr; s++)
		if (!s->begun || c->record.feed == s)
			step(s);
	s = xalloc_failed() ? NULL : first_of(c);
	c->record = (struct iotracer_record){ .feed = s };
	if (!s)
		return CLI_OK;
	c->record.data = s->head;
	c->record.note = cpu_merge_note(&s->merge, s->head, &c->record.note_length);
	return CLI_OK;
}

/* Why a read of the stream failed. Returns an exit code. */
static int explain(const struct live *live, int err, enum iotracer_code *code)
{
	if (err == -EIO)
		*code = IOTRACER_GONE;
	return stream_explain(&live->stream, err);
}

static int read_stream(struct feed *s, struct live *live, enum iotracer_code *code)
{
	int err;

	s->at = 0;
	s->records.nr = 0;
	err = stream_read(&live->stream, &s->records, BATCH);
	if (err)
		return explain(live, err, code);
	stream_sort(&live->stream, &s->records);
	return CLI_OK;
}

static int next_of_stream(struct iotracer_cursor *c, enum iotracer_code *code)
{
	struct feed *s = c->feeds;
	int status = CLI_OK;

	if (s->at == s->records.nr)
		status = read_stream(s, &c->trace->live, code);
	c->record = (struct iotracer_record){ 0 };
	if (status || s->at == s->records.nr)
		return status;
	c->record.feed = s;
	c->record.data = s->records.data + s->at++ * s->event->size;
	s->merge.events++;
	return CLI_OK;
}

static bool is_in_time(const struct iotracer_cursor *c)
{
	__u64 time;

	if (!c->from && c->to == UINT64_MAX)
		return true;
	time = iotracer_trace_wall(c->trace, record_time(c->record.feed->event, c->record.data));
	return time >= c->from && time < c->to;
}

EXPORTED struct iotracer_error *iotracer_cursor_next(struct iotracer_cursor *cursor,
						     const struct iotracer_record **record)
{
	struct iotracer_error *error;
	struct call call;
	int status;

	*record = NULL;
	if (cursor->broken)
		return error_make(IOTRACER_BROKEN, "this cursor failed before: open another one");
	if (cursor->ended)
		return NULL;
	call_begin(&call, cursor->trace);
	do {
		status = cursor->trace->directory ? next_of_trace(cursor) : next_of_stream(cursor, &call.code);
	} while (!status && cursor->record.feed && !is_in_time(cursor));
	error = call_end(&call, status);
	cursor->broken = error;
	if (error)
		cursor->record = (struct iotracer_record){ 0 };
	else if (cursor->record.feed)
		*record = &cursor->record;
	else
		cursor->ended = cursor->trace->directory;
	return error;
}

EXPORTED struct iotracer_losses iotracer_cursor_losses(const struct iotracer_cursor *cursor)
{
	const struct live *live = &cursor->trace->live;
	struct iotracer_losses losses = { 0 };
	const struct feed *s;

	for (s = cursor->feeds; s < cursor->feeds + cursor->nr; s++) {
		losses.events += s->merge.events;
		losses.lost += s->merge.lost;
		losses.missing += s->missing;
		losses.damages += s->merge.reader.damages;
	}
	if (!cursor->trace->directory)
		losses.lost = live->stream.before + live->stream.gaps;
	return losses;
}

/* --- a record ----------------------------------------------------------------------------- */

EXPORTED const struct iotracer_event *iotracer_record_event(const struct iotracer_record *record)
{
	return public_event(record->feed->event);
}

EXPORTED const char *iotracer_record_category(const struct iotracer_record *record)
{
	return record->feed->name;
}

EXPORTED const char *iotracer_record_op(const struct iotracer_record *record)
{
	uint64_t op;
	const char *name = NULL;

	if (iotracer_record_u64(record, "op", &op))
		name = iotracer_event_op(public_event(record->feed->event), op);
	return name ? name : "";
}

EXPORTED uint64_t iotracer_record_time(const struct iotracer_record *record)
{
	return record_time(record->feed->event, record->data);
}

EXPORTED uint64_t iotracer_record_end(const struct iotracer_record *record)
{
	return ended_at(record->feed->event, record->data);
}

EXPORTED const void *iotracer_record_data(const struct iotracer_record *record)
{
	return record->data;
}

EXPORTED const char *iotracer_record_command(const struct iotracer_record *record, size_t *length)
{
	*length = record->note ? record->note_length : 0;
	return record->note;
}

EXPORTED bool iotracer_record_u64(const struct iotracer_record *record, const char *field, uint64_t *value)
{
	const struct iotracer_field *f = iotracer_field_find(public_event(record->feed->event), field);

	return f && iotracer_field_u64(f, record->data, value);
}

EXPORTED bool iotracer_record_s64(const struct iotracer_record *record, const char *field, int64_t *value)
{
	const struct iotracer_field *f = iotracer_field_find(public_event(record->feed->event), field);

	return f && iotracer_field_s64(f, record->data, value);
}

/* --- rows --------------------------------------------------------------------------------- */

/* The printer of the feed for a form, and room for its text. NULL if there is no memory. */
static struct row_printer *printer_of(struct feed *s, enum row_form form)
{
	struct iotracer_trace *t = s->cursor->trace;
	struct row_printer *p = &s->rows[form];

	if (!s->cursor->text)
		s->cursor->text = xreallocarray(NULL, ROW_MAX + 1, 1);
	if (s->cursor->text && !s->is_open[form]) {
		*p = (struct row_printer){
			.event = s->event, .json = form == ROW_JSON, .bare = form == ROW_BARE,
			.clock = &t->check.clock, .paths = trace_names(t), .with_sources = t->sources.nr,
		};
		row_printer_open_own(p, s->category && s->category->command_op != NO_OP);
		if (xalloc_failed())
			row_printer_close(p);
		else
			s->is_open[form] = true;
	}
	return xalloc_failed() ? NULL : p;
}

/* What @end is the end of, in the cursor's text, is what the call returns. */
static struct iotracer_error *give(struct call *call, struct iotracer_cursor *c, char *end,
				   const char **text, size_t *length)
{
	struct iotracer_error *error = call_end(call, CLI_OK);

	if (error)
		return error;
	*end = '\0';
	*text = c->text;
	*length = end - c->text;
	return NULL;
}

static struct iotracer_error *row(const struct iotracer_record *record, enum row_form form,
				  const char **text, size_t *length)
{
	struct feed *s = record->feed;
	struct row_printer *p;
	char *end = NULL;
	struct call call;

	*text = NULL;
	*length = 0;
	call_begin(&call, s->cursor->trace);
	p = printer_of(s, form);
	if (p) {
		p->note = record->note;
		p->note_length = record->note_length;
		if (s->cursor->trace->directory)
			p->source = sources_find(&s->cursor->trace->sources, merge_cpu_of(&s->merge));
		end = row_print(p, s->cursor->text, record->data);
	}
	return give(&call, s->cursor, end, text, length);
}

EXPORTED struct iotracer_error *iotracer_record_csv(const struct iotracer_record *record,
						    const char **text, size_t *length)
{
	return row(record, ROW_CSV, text, length);
}

EXPORTED struct iotracer_error *iotracer_record_json(const struct iotracer_record *record,
						     const char **text, size_t *length)
{
	return row(record, ROW_JSON, text, length);
}

EXPORTED struct iotracer_error *iotracer_cursor_header(struct iotracer_cursor *cursor,
						       const char *category, const char **text,
						       size_t *length)
{
	struct row_printer *p;
	struct call call;
	size_t i;

	*text = NULL;
	*length = 0;
	for (i = 0; i < cursor->nr && strcmp(cursor->feeds[i].name, category); i++)
		;
	if (i == cursor->nr)
		return error_make(IOTRACER_NOT_FOUND, "the cursor has no category %s", category);
	call_begin(&call, cursor->trace);
	p = printer_of(&cursor->feeds[i], ROW_CSV);
	return give(&call, cursor, p ? row_header(p, cursor->text) : NULL, text, length);
}

EXPORTED struct iotracer_error *iotracer_record_text(const struct iotracer_record *record,
						     const char *field, const char **text)
{
	struct feed *s = record->feed;
	const struct iot_schema_field *f = record_field(s->event, field);
	struct row_printer *p;
	char *end = NULL;
	struct call call;
	size_t length;

	*text = NULL;
	if (!f || !row_field_is_shown(f))
		return error_make(IOTRACER_NOT_FOUND, "category %s has no field %s", s->name, field);
	call_begin(&call, s->cursor->trace);
	p = printer_of(s, ROW_BARE);
	if (p)
		end = row_field(p, s->cursor->text, f, record->data);
	return give(&call, s->cursor, end, text, &length);
}
