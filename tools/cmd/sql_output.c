// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/progress.h"
#include "base/put.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/sql_output.h"

#define LINE		80
#define BETWEEN		2		/* blanks between two columns */
#define HELD_CELLS	4096
#define HELD_BYTES	(1024 * 1024)
#define NULL_CELL	"-"

static const char *name_of(sqlite3_stmt *statement, int i)
{
	const char *name = sqlite3_column_name(statement, i);

	return name ? name : "";
}

/* What a query makes can have any bytes. The caller frees it. */
static char *guarded(const void *bytes, size_t length)
{
	return text_guard(bytes ? bytes : "", length, "");
}

/* A value as text. */
static char *cell_of(sqlite3_stmt *statement, int i)
{
	const void *text;

	if (sqlite3_column_type(statement, i) == SQLITE_NULL)
		return xstrdup(NULL_CELL);
	text = sqlite3_column_text(statement, i);
	return guarded(text, sqlite3_column_bytes(statement, i));
}

static bool is_number(sqlite3_stmt *statement, int i)
{
	int type = sqlite3_column_type(statement, i);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* Characters: a byte of 10xxxxxx continues one. */
static int width_of(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

/* --- text ----------------------------------------------------------------------- */

static void pad(int width)
{
	printf("%*s", width > 0 ? width : 0, "");
}

/* No blanks follow the last column. */
static void put_cell(const struct sql_output *o, int i, const char *text)
{
	int rest = o->widths[i] - width_of(text);

	if (o->numbers[i])
		pad(rest);
	fputs(text, stdout);
	if (i == o->nr - 1) {
		putchar('\n');
		return;
	}
	pad(o->numbers[i] ? BETWEEN : BETWEEN + (rest > 0 ? rest : 0));
}

static void put_names(const struct sql_output *o, sqlite3_stmt *statement)
{
	int i;

	for (i = 0; i < o->nr; i++) {
		char *name = guarded(name_of(statement, i), strlen(name_of(statement, i)));

		put_cell(o, i, name);
		free(name);
	}
}

static void put_upright(struct sql_output *o, sqlite3_stmt *statement, char **cells)
{
	int i;

	if (o->begun)
		putchar('\n');
	for (i = 0; i < o->nr; i++) {
		char *name = guarded(name_of(statement, i), strlen(name_of(statement, i)));

		printf("%*s%s = %s\n", o->widths[0] - width_of(name), "", name, cells[i]);
		free(name);
	}
	o->begun = true;
}

/* Prints the rows that were held back: their widths, and those of the names, are those of the columns. */
static void release(struct sql_output *o, sqlite3_stmt *statement)
{
	size_t at;
	int i;

	progress_end();
	for (at = 0; !o->begun && !o->upright && at < o->held; at++)
		if (o->widths[at % o->nr] < width_of(o->cells[at]))
			o->widths[at % o->nr] = width_of(o->cells[at]);
	if (!o->begun && !o->upright)
		put_names(o, statement);
	for (at = 0; at < o->held; at += o->nr) {
		if (o->upright)
			put_upright(o, statement, &o->cells[at]);
		for (i = 0; i < o->nr; i++) {
			if (!o->upright)
				put_cell(o, i, o->cells[at + i]);
			free(o->cells[at + i]);
		}
	}
	o->begun = true;
	o->held = 0;
	o->bytes = 0;
}

static void hold(struct sql_output *o, sqlite3_stmt *statement)
{
	int i;

	if (o->held + o->nr > o->room) {
		o->room = 2 * (o->held + o->nr);
		o->cells = xreallocarray(o->cells, o->room, sizeof(*o->cells));
	}
	for (i = 0; i < o->nr; i++) {
		char *cell = cell_of(statement, i);

		if (!o->begun)
			o->numbers[i] &= is_number(statement, i) || !strcmp(cell, NULL_CELL);
		o->bytes += strlen(cell);
		o->cells[o->held++] = cell;
	}
	if (o->begun || o->held >= HELD_CELLS || o->bytes >= HELD_BYTES)
		release(o, statement);
}

static void measure_names(struct sql_output *o, sqlite3_stmt *statement)
{
	int i, longest = 0, all = -BETWEEN;

	o->widths = xreallocarray(o->widths, o->nr, sizeof(*o->widths));
	o->numbers = xreallocarray(o->numbers, o->nr, sizeof(*o->numbers));
	for (i = 0; i < o->nr; i++) {
		char *name = guarded(name_of(statement, i), strlen(name_of(statement, i)));

		o->numbers[i] = true;
		o->widths[i] = width_of(name);
		longest = o->widths[i] > longest ? o->widths[i] : longest;
		all += o->widths[i] + BETWEEN;
		free(name);
	}
	o->upright = all > LINE;
	if (o->upright)
		o->widths[0] = longest;
}

/* --- CSV and JSON ---------------------------------------------------------------- */

static char *room_for(struct sql_output *o, char *end, size_t more)
{
	size_t used = end - o->line;

	if (used + more > o->line_room) {
		o->line_room = 2 * (used + more);
		o->line = xreallocarray(o->line, o->line_room, 1);
	}
	return o->line + used;
}

static char *put_text(struct sql_output *o, char *out, const char *bytes, size_t length)
{
	char *text = guarded(bytes, length);

	length = strlen(text);
	out = room_for(o, out, 4 * length + 2);
	out = o->format == FORMAT_CSV ? csv_put(out, text, length) : put_json(out, text, length);
	free(text);
	return out;
}

/* JSON has no number that is infinite. */
static bool is_null(const struct sql_output *o, sqlite3_stmt *statement, int i)
{
	int type = sqlite3_column_type(statement, i);

	return type == SQLITE_NULL || (o->format == FORMAT_JSON && type == SQLITE_FLOAT &&
				       !isfinite(sqlite3_column_double(statement, i)));
}

static char *put_value(struct sql_output *o, char *out, sqlite3_stmt *statement, int i)
{
	bool number = is_number(statement, i);
	bool null = is_null(o, statement, i);
	const char *text = (const char *)sqlite3_column_text(statement, i);
	size_t length = sqlite3_column_bytes(statement, i);

	if (null)
		return put_bytes(room_for(o, out, 4), "null", o->format == FORMAT_JSON ? 4 : 0);
	if (number)
		return put_bytes(room_for(o, out, length), text, length);
	return put_text(o, out, text, length);
}

static void put_line(struct sql_output *o, char *end)
{
	end = room_for(o, end, 1);
	*end++ = '\n';
	progress_end();
	fwrite(o->line, 1, end - o->line, stdout);
}

static char *put_name(struct sql_output *o, char *out, sqlite3_stmt *statement, int i)
{
	const char *name = name_of(statement, i);

	return put_text(o, out, name, strlen(name));
}

static void put_csv_names(struct sql_output *o, sqlite3_stmt *statement)
{
	char *end = o->line;
	int i;

	for (i = 0; i < o->nr; i++) {
		end = put_bytes(room_for(o, end, 1), ",", i > 0);
		end = put_name(o, end, statement, i);
	}
	put_line(o, end);
}

static void put_row(struct sql_output *o, sqlite3_stmt *statement)
{
	bool json = o->format == FORMAT_JSON;
	char *end = o->line;
	int i;

	for (i = 0; i < o->nr; i++) {
		end = put_bytes(room_for(o, end, 1), !json || i ? "," : "{", json || i);
		if (json) {
			end = put_name(o, end, statement, i);
			end = put_bytes(room_for(o, end, 1), ":", 1);
		}
		end = put_value(o, end, statement, i);
	}
	end = put_bytes(room_for(o, end, 1), "}", json);
	put_line(o, end);
}

/* --- all ------------------------------------------------------------------------ */

void sql_output_begin(struct sql_output *o, sqlite3_stmt *statement)
{
	/* an empty line between two tables of text */
	if (o->begun && o->format == FORMAT_TEXT)
		putchar('\n');
	o->nr = sqlite3_column_count(statement);
	o->begun = false;
	if (o->format == FORMAT_TEXT)
		measure_names(o, statement);
	else if (o->format == FORMAT_CSV)
		put_csv_names(o, statement);
}

void sql_output_row(struct sql_output *o, sqlite3_stmt *statement)
{
	if (o->format == FORMAT_TEXT)
		hold(o, statement);
	else
		put_row(o, statement);
}

void sql_output_end(struct sql_output *o, sqlite3_stmt *statement)
{
	if (o->format == FORMAT_TEXT)
		release(o, statement);
	o->begun = true;
	cli_flush();
}

void sql_output_free(struct sql_output *o)
{
	free(o->widths);
	free(o->numbers);
	free(o->cells);
	free(o->line);
}
