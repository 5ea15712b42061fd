// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "base/csv.h"
#include "base/put.h"
#include "base/wall.h"
#include "trace/fleet_columns.h"
#include "trace/record.h"

/* --- the columns of a category ---------------------------------------------------- */

static char *put_begin(struct row_printer *p, const struct row_column *c, char *out, const void *record)
{
	return put_u64(out, wall_time(p->clock, record_scalar(record, c->offset, c->size)));
}

static char *put_trace(struct row_printer *p, const struct row_column *c, char *out, const void *record)
{
	const char *id = p->context;

	(void)c;
	(void)record;
	return row_text(p, out, id, strlen(id), true);
}

static const struct row_column added[] = {
	{ .name = "begin_ns", .field = "time", .put = put_begin },
	{ .name = "trace", .put = put_trace },
};

void fleet_printer_open(struct row_printer *p, const struct category *category, const char *id)
{
	p->added = added;
	p->nr_added = sizeof(added) / sizeof(added[0]);
	p->context = id;
	row_printer_open_own(p, category->command_op != NO_OP);
}

struct fleet_column fleet_printer_column(const struct row_printer *p, size_t i)
{
	const struct row_column *c = &p->columns[i];
	struct fleet_column column = { .name = c->name, .type = FLEET_TEXT, .size = c->size };

	if (c->put == row_timestamp)
		column.type = FLEET_TIME;
	else if (row_column_is_signed(c))
		column.type = FLEET_SIGNED;
	else if (row_column_is_integer(c) || c->put == put_begin)
		column.type = FLEET_UNSIGNED;
	return column;
}

/* --- the table _trace ------------------------------------------------------------- */

/* In the order of fleet_trace_row(). */
const struct fleet_column fleet_trace_columns[] = {
	{ "trace", FLEET_TEXT, 0 }, { "category", FLEET_TEXT, 0 }, { "host", FLEET_TEXT, 0 },
	{ "kernel", FLEET_TEXT, 0 }, { "state", FLEET_TEXT, 0 }, { "tool_version", FLEET_TEXT, 0 },
	{ "format", FLEET_UNSIGNED, 8 }, { "begin_ns", FLEET_UNSIGNED, 8 }, { "end_ns", FLEET_UNSIGNED, 8 },
	{ "records", FLEET_UNSIGNED, 8 }, { "events", FLEET_UNSIGNED, 8 }, { "sampled", FLEET_UNSIGNED, 8 },
	{ "lost", FLEET_UNSIGNED, 8 }, { "missed", FLEET_UNSIGNED, 8 }, { "unreadable", FLEET_UNSIGNED, 8 },
};

const size_t nr_fleet_trace_columns = sizeof(fleet_trace_columns) / sizeof(fleet_trace_columns[0]);

char *fleet_trace_header(char *out)
{
	size_t i;

	for (i = 0; i < nr_fleet_trace_columns; i++) {
		out = put_bytes(out, ",", i > 0);
		out = put_bytes(out, fleet_trace_columns[i].name, strlen(fleet_trace_columns[i].name));
	}
	*out++ = '\n';
	return out;
}

char *fleet_trace_row(char *out, const struct fleet_trace *t)
{
	const char *const texts[] = { t->id, t->category, t->host, t->kernel, t->state, t->tool_version };
	const __u64 numbers[] = {
		t->format, t->begin, t->end, t->basis.records, t->basis.events, t->basis.sampled, t->basis.lost,
		t->basis.missed, t->basis.unreadable,
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		out = csv_put(out, texts[i], strlen(texts[i]));
		*out++ = ',';
	}
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		out = put_bytes(out, ",", i > 0);
		out = put_u64(out, numbers[i]);
	}
	*out++ = '\n';
	return out;
}
