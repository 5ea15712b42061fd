// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cli.h"
#include "base/fit.h"
#include "base/scaled.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/watch_line.h"
#include "core/names.h"
#include "trace/paths.h"
#include "trace/record.h"
#include "uapi/iotracer.h"

#define NS		1000000000ULL
#define SLOW_NS		100000000ULL	/* red */
#define SLOWISH_NS	10000000ULL	/* yellow */
#define LEAST_PATH	8		/* columns: with less room there is no path */

/* Columns of the terminal that each column of a line takes, on a narrow and on a wide one. */
enum column { TIME, WHO, LEVEL, OP, OFFSET, BYTES, RESULT, TAKES, COLUMNS };

static const struct {
	const char *name;
	size_t narrow, wide;
	bool right;
} columns[COLUMNS] = {
	[TIME] = { "TIME", 12, 15, false },
	[WHO] = { "WHO", 13, 20, false },
	[LEVEL] = { "LVL", 3, 3, false },
	[OP] = { "OP", 9, 14, false },
	[OFFSET] = { "OFFSET", 9, 14, true },
	[BYTES] = { "BYTES", 8, 8, true },
	[RESULT] = { "RESULT", 0, 9, true },
	[TAKES] = { "TAKES", 7, 7, true },
};

static bool is_wide(const struct watch_line *l)
{
	return !l->columns || l->columns >= WATCH_WIDE;
}

static bool has_level(const struct watch_line *l)
{
	return l->event->id == IOT_EVENT_ID_IO || l->event->id == IOT_EVENT_ID_FS;
}

/* Whether the terminal is too narrow for a column. */
static bool is_left_out(const struct watch_line *l, enum column column)
{
	return l->columns && ((column == OFFSET && l->columns < 66) || (column == TIME && l->columns < 56) ||
			      (column == WHO && l->columns < 43));
}

/* 0: the column is not there. Where there is no path, there is room for the level. */
static size_t width_of(const struct watch_line *l, enum column column)
{
	if (is_left_out(l, column))
		return 0;
	if (column == LEVEL && (!has_level(l) || (!is_wide(l) && l->paths)))
		return 0;
	return is_wide(l) ? columns[column].wide : columns[column].narrow;
}

static void blanks(size_t nr)
{
	printf("%*s", (int)nr, "");
}

/* Prints a text in a column, with a blank behind it. It is as long as it is if nothing is shortened. */
static void put(const struct watch_line *l, enum column column, const char *color, const char *text)
{
	size_t width = width_of(l, column), own = fit_width(text), most = l->columns ? width : FIT_ALL;
	size_t pad = width > own ? width - own : 0;

	if (!width)
		return;
	if (columns[column].right)
		blanks(pad);
	fputs(color, stdout);
	fit_print_start(text, most);
	if (*color)
		fputs(CLI_PLAIN, stdout);
	blanks(columns[column].right ? 1 : pad + 1);
}

/* Columns that are left for the path. */
static size_t left_for_path(const struct watch_line *l)
{
	size_t used = 0, i;

	if (!l->columns)
		return FIT_ALL;
	for (i = 0; i < COLUMNS; i++)
		used += width_of(l, i) ? width_of(l, i) + 1 : 0;
	return l->columns >= used + LEAST_PATH ? l->columns - used : 0;
}

/* --- what an event has --------------------------------------------------------------- */

void watch_line_open(struct watch_line *l, const struct iot_schema_event *event, const struct paths *paths)
{
	*l = (struct watch_line){
		.event = event, .paths = paths, .op = record_field(event, "op"),
		.pid = record_field(event, "pid"), .comm = record_field(event, "comm"),
		.offset = record_field(event, "offset"), .sector = record_field(event, "sector"),
		.requested = record_field(event, "requested"), .result = record_field(event, "result"),
		.level = record_field(event, "level"), .path = record_field(event, "path"),
		.path2 = record_field(event, "path2"), .flags = record_field(event, "flags"),
		.printer = { .event = event, .bare = true, .paths = paths },
	};
	measurer_open(&l->measurer, event);
	row_printer_open_own(&l->printer, false);
}

void watch_line_close(struct watch_line *l)
{
	row_printer_close(&l->printer);
}

static __u64 get(const struct iot_schema_field *f, const void *record)
{
	return f ? record_scalar(record, f->offset, f->size) : 0;
}

static bool is_io(const struct watch_line *l)
{
	return l->event->id == IOT_EVENT_ID_IO;
}

/* Of an event that has both: whether it is one of the block layer. */
static bool is_block(const struct watch_line *l, const void *record)
{
	if (is_io(l))
		return get(l->level, record) == IOT_LEVEL_BLK;
	return l->event->id == IOT_EVENT_ID_BLOCK ||
	       (l->event->id == IOT_EVENT_ID_FS && iot_fs_is_block(get(l->op, record)));
}

static bool is_chown(const struct watch_line *l, const void *record)
{
	return l->event->id == IOT_EVENT_ID_FS && get(l->op, record) == IOT_FS_CHOWN;
}

static const char *op_of(const struct watch_line *l, const void *record)
{
	unsigned int op = get(l->op, record);
	const struct iot_access_name *access = is_io(l) ? iot_names_access(op) : NULL;
	const char *name = is_io(l) ? (access ? access->name : NULL) : iot_names_op_name(l->event->id, op);

	if (is_io(l) && op <= IOT_OP_WRITE)
		return op == IOT_OP_READ ? "READ" : "WRITE";
	return name && *name ? name : "?";
}

/* On a narrow terminal, which has no room for the level, "BLK_WRITE" stands for "BLOCK_WRITE". */
static void put_op(const struct watch_line *l, const char *op, const char *color)
{
	const char *block = "BLOCK_";
	size_t length = strlen(block);
	char text[32];

	if (is_wide(l) || strncmp(op, block, length)) {
		put(l, OP, color, op);
		return;
	}
	snprintf(text, sizeof(text), "BLK_%s", op + length);
	put(l, OP, color, text);
}

/* Green for what reads, yellow for what writes. */
static const char *op_color(const char *op)
{
	if (strstr(op, "READ") || !strcmp(op, "RECV") || !strcmp(op, "HIT") || !strcmp(op, "MISS"))
		return CLI_GREEN;
	if (strstr(op, "WRITE") || !strcmp(op, "SEND") || !strcmp(op, "DIRTY"))
		return CLI_YELLOW;
	return "";
}

/* What is known of the bytes that were moved. */
static void measure_io(const struct watch_line *l, const void *record, struct measure *m)
{
	measure(&l->measurer, record, m);
	if (is_io(l) && get(l->op, record) <= IOT_OP_WRITE && !m->error) {
		m->has_bytes = true;
		m->bytes = get(l->result, record);
	}
}

/* --- columns ------------------------------------------------------------------------- */

static void put_time(const struct watch_line *l, const struct wall_pair *now, __u64 time)
{
	const __u64 at = now->realtime - (now->monotonic - time), rest = at % NS;
	const time_t second = at / NS;
	char text[32];
	struct tm tm;
	size_t n;

	n = strftime(text, sizeof(text), "%H:%M:%S", localtime_r(&second, &tm));
	if (is_wide(l))
		snprintf(text + n, sizeof(text) - n, ".%06llu", rest / 1000);
	else
		snprintf(text + n, sizeof(text) - n, ".%03llu", rest / 1000000);
	put(l, TIME, "", text);
}

/* "postgres/1234": of a name that is too long its end is left out, never the number. */
static void put_who(const struct watch_line *l, const void *record)
{
	const char *comm = l->comm ? (const char *)record + l->comm->offset : "";
	char *shown = text_show(comm, l->comm ? strnlen(comm, l->comm->size) : 0);
	char *number = xasprintf("/%llu ", (unsigned long long)get(l->pid, record));
	size_t width = width_of(l, WHO) + 1, rest = width > strlen(number) ? width - strlen(number) : 0;
	size_t used = fit_print_start(shown, l->columns ? rest : FIT_ALL);

	fputs(number, stdout);
	blanks(used < rest ? rest - used : 0);
	free(number);
	free(shown);
}

static void put_offset(const struct watch_line *l, const void *record)
{
	char text[SCALED + 2] = "-";
	bool block = is_block(l, record);
	__u64 at = get(l->offset, record);

	if (block && l->event->id == IOT_EVENT_ID_FS)
		at = ((const struct iot_fs *)record)->address / 512;
	else if (block)
		at = get(l->sector, record);
	/* a flush has no place, and an open none in the file */
	if ((block || (l->offset && !is_chown(l, record))) && (at || get(l->requested, record)))
		snprintf(text, sizeof(text), "%s%llu", block ? "s" : "", at);
	if (l->columns && strlen(text) > width_of(l, OFFSET)) {
		*text = 's';
		scaled_size(text + block, block ? at * 512.0 : at);
	}
	put(l, OFFSET, "", text);
}

static const char *error_name(unsigned int error)
{
	const char *name = strerrorname_np(error);

	return name ? name : "error";
}

static void put_bytes(const struct watch_line *l, const void *record, const struct measure *m)
{
	__u64 bytes = get(l->requested, record);
	char text[SCALED] = "-";
	bool wide = width_of(l, RESULT);

	if (m->error && !wide) {
		put(l, BYTES, CLI_RED, error_name(m->error));
		return;
	}
	if (m->has_bytes && (!wide || !l->requested))
		bytes = m->bytes;
	if ((bytes || m->has_bytes) && !is_chown(l, record))
		scaled_size(text, bytes);
	put(l, BYTES, "", text);
}

/* A request that was queued may still fail. */
static bool is_queued(const struct watch_line *l, const void *record)
{
	return is_io(l) && (get(l->flags, record) & (IOT_IO_ASYNC | IOT_IO_COMPLETED)) == IOT_IO_ASYNC;
}

static void put_result(const struct watch_line *l, const void *record, const struct measure *m)
{
	char text[SCALED] = "ok";
	__s64 result = get(l->result, record);

	if (m->error) {
		put(l, RESULT, CLI_RED, error_name(m->error));
		return;
	}
	if (is_queued(l, record))
		strcpy(text, "queued");
	else if (m->has_bytes && l->requested && m->bytes != get(l->requested, record))
		scaled_size(text, m->bytes);
	else if (!m->has_bytes && l->result && result)
		snprintf(text, sizeof(text), "%lld", result);
	put(l, RESULT, "", text);
}

static void put_latency(const struct watch_line *l, __u64 latency)
{
	char text[SCALED];
	const char *color = latency >= SLOW_NS ? CLI_RED : latency >= SLOWISH_NS ? CLI_YELLOW : "";

	put(l, TAKES, color, latency ? scaled_time(text, latency) : "-");
}

/* --- what it is about ------------------------------------------------------------------- */

static const char *path_of(const struct watch_line *l, const struct iot_schema_field *f, const void *record)
{
	__u64 id = get(f, record);
	const struct name *name = id ? names_find(l->paths, id) : NULL;

	return name ? name->text : id ? "?" : "";
}

/* Of an event without a path: what it has of these fields. The caller frees it. */
static char *describe(struct watch_line *l, const void *record)
{
	static const char *const names[] = {
		"opcode", "source", "source_port", "destination", "destination_port", "local", "local_port",
		"remote", "remote_port", "name", "level", "option", "value", "reason", "timeout", "fd",
	};
	static char shown[ROW_MAX];
	char *text = NULL, *one, *end;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct iot_schema_field *f = record_field(l->event, names[i]);

		end = f ? row_field(&l->printer, shown, f, record) : NULL;
		if (!end || end == shown)
			continue;
		*end = '\0';
		one = xasprintf("%s=%s", names[i], shown);
		text = text_append(text, " ", one);
		free(one);
	}
	return text ? text : xstrdup("");
}

/* Each path of two has half of the room. */
static void put_paths(struct watch_line *l, const void *record, size_t room)
{
	const char *first = path_of(l, l->path, record), *second = path_of(l, l->path2, record);
	size_t half = room == FIT_ALL ? room : (room - 4) / 2;

	if (*second && room >= LEAST_PATH) {
		fit_print_end(first, half);
		fputs(" -> ", stdout);
		fit_print_end(second, half);
	} else {
		fit_print_end(first, room);
	}
}

static void put_subject(struct watch_line *l, const void *record, __u64 weight)
{
	size_t room = left_for_path(l);
	char *text;

	if (weight > 1 && room) {
		text = xasprintf("x%llu ", (unsigned long long)weight);
		fit_print_start(text, room);
		room = room == FIT_ALL ? room : room > strlen(text) ? room - strlen(text) : 0;
		free(text);
	}
	if (!room || is_io(l))
		return;
	if (l->path) {
		put_paths(l, record, room);
		return;
	}
	text = describe(l, record);
	fit_print_start(text, room);
	free(text);
}

void watch_line_head(const struct watch_line *l)
{
	size_t i;

	for (i = 0; i < COLUMNS; i++)
		put(l, i, CLI_BOLD, columns[i].name);
	if (!is_io(l) && left_for_path(l))
		printf("%s%s%s", CLI_BOLD, l->path ? "PATH" : "WHAT", CLI_PLAIN);
	putchar('\n');
}

void watch_line_print(struct watch_line *l, const struct wall_pair *now, const void *record)
{
	const char *op = op_of(l, record);
	struct measure m;

	measure_io(l, record, &m);
	put_time(l, now, m.time);
	if (width_of(l, WHO))
		put_who(l, record);
	put(l, LEVEL, "", is_block(l, record) ? "BLK" : "VFS");
	put_op(l, op, op_color(op));
	put_offset(l, record);
	put_bytes(l, record, &m);
	put_result(l, record, &m);
	put_latency(l, m.latency);
	put_subject(l, record, m.weight);
	putchar('\n');
}

void watch_line_say(const struct watch_line *l, char *text)
{
	fputs(CLI_YELLOW, stdout);
	fputs("-- ", stdout);
	fit_print_start(text, l->columns ? (l->columns > 3 ? l->columns - 3 : 0) : FIT_ALL);
	printf("%s\n", CLI_PLAIN);
	free(text);
}
