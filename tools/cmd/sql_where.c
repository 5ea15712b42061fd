// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "cmd/sql_where.h"
#include "core/names.h"
#include "trace/record.h"

/**
 * struct sql_condition - a value from @least to @most
 * @column:	NULL: begin_ns
 * @is_stored:	the value is what the record has, not what the column shows: of op and device
 */
struct sql_condition {
	const struct row_column *column;
	bool is_stored;
	__s64 least, most;
};

/* --- planning ------------------------------------------------------------------- */

static bool is_kind(const struct row_column *c, const char *kind)
{
	return c->kind && !strcmp(c->kind, kind);
}

static bool is_comparison(unsigned char op)
{
	return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_LT ||
	       op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_GT ||
	       op == SQLITE_INDEX_CONSTRAINT_GE;
}

/* A list, column IN (...), would make sqlite read the table once for each value. */
static bool is_useful(const struct row_printer *p, sqlite3_index_info *info, int i)
{
	int column = info->aConstraint[i].iColumn;
	unsigned char op = info->aConstraint[i].op;

	if (!info->aConstraint[i].usable || column < 0 || !is_comparison(op) ||
	    sqlite3_vtab_in(info, i, -1))
		return false;
	if ((size_t)column >= p->nr_columns || row_column_is_integer(&p->columns[column]))
		return true;
	/* with any collation: no other operation or device is equal to the one that a text names */
	return op == SQLITE_INDEX_CONSTRAINT_EQ &&
	       (is_kind(&p->columns[column], "op") || is_kind(&p->columns[column], "device"));
}

int sql_where_plan(const struct row_printer *p, sqlite3_index_info *info)
{
	sqlite3_str *plan = sqlite3_str_new(NULL);
	int i, nr = 0;

	for (i = 0; i < info->nConstraint; i++) {
		unsigned char op = info->aConstraint[i].op;

		if (!is_useful(p, info, i))
			continue;
		info->aConstraintUsage[i].argvIndex = ++nr;
		sqlite3_str_appendf(plan, "%d %d ", info->aConstraint[i].iColumn, op);
		/* all records are read in any case, so that fewer rows make a plan better by little */
		info->estimatedRows = info->estimatedRows / (op == SQLITE_INDEX_CONSTRAINT_EQ ? 20 : 4) + 1;
	}
	info->needToFreeIdxStr = 1;
	info->idxStr = sqlite3_str_finish(plan);
	return info->idxStr || !nr ? SQLITE_OK : SQLITE_NOMEM;
}

/* --- values --------------------------------------------------------------------- */

static __s64 whole(double value)
{
	if (value >= 0x1p63)
		return INT64_MAX;
	return value <= -0x1p63 ? INT64_MIN : (__s64)value;
}

/* Conditions are widened to whole numbers, and < to <=. False for a value that is no number. */
static bool set_range(struct sql_condition *c, int op, sqlite3_value *value)
{
	__s64 below, above;

	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		below = sqlite3_value_int64(value);
		above = below;
		break;
	case SQLITE_FLOAT:
		below = whole(floor(sqlite3_value_double(value)));
		above = whole(ceil(sqlite3_value_double(value)));
		break;
	default:
		return false;
	}
	c->least = op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE ? INT64_MIN : below;
	c->most = op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE ? INT64_MAX : above;
	return true;
}

/* The number of an operation. False if none has the name, which may be the number of an unknown one. */
static bool find_op(const struct row_printer *p, const char *name, __s64 *number)
{
	const char *known;
	unsigned int i;

	for (i = 0; (known = iot_names_op_name(p->event->id, i)); i++) {
		if (!*known || strcmp(known, name))
			continue;
		*number = i;
		return true;
	}
	return false;
}

/* "8:1", as a column shows it. */
static bool parse_device(const char *text, __s64 *number)
{
	unsigned long major, minor;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	major = strtoul(text, &end, 10);
	if (*end != ':' || !isdigit((unsigned char)end[1]) || major > 0xfff)
		return false;
	minor = strtoul(end + 1, &end, 10);
	if (*end || minor > 0xfffff)
		return false;
	*number = major << 20 | minor;
	return true;
}

static bool set_text(struct sql_condition *c, const struct row_printer *p, sqlite3_value *value)
{
	const char *text;

	if (sqlite3_value_type(value) != SQLITE_TEXT)
		return false;
	text = (const char *)sqlite3_value_text(value);
	c->is_stored = true;
	if (!text || !(is_kind(c->column, "op") ? find_op(p, text, &c->least) :
						 parse_device(text, &c->least)))
		return false;
	c->most = c->least;
	return true;
}

void sql_where_open(struct sql_where *w, const struct row_printer *p, const char *plan, int nr,
		    sqlite3_value **values)
{
	char *at = (char *)plan;
	size_t column;
	int i, op;

	*w = (struct sql_where){ .at = xreallocarray(NULL, nr, sizeof(*w->at)) };
	for (i = 0; i < nr; i++) {
		struct sql_condition *c = &w->at[w->nr];

		column = strtoul(at, &at, 10);
		op = strtol(at, &at, 10);
		*c = (struct sql_condition){ 0 };
		if (column < p->nr_columns)
			c->column = &p->columns[column];
		if (!c->column || row_column_is_integer(c->column) ? !set_range(c, op, values[i]) :
								    !set_text(c, p, values[i]))
			continue;
		w->by_time |= !c->column;
		w->nr++;
	}
}

void sql_where_close(struct sql_where *w)
{
	free(w->at);
	*w = (struct sql_where){ 0 };
}

/* --- frames --------------------------------------------------------------------- */

/* The condition of --filter that is met by the records of one value; NULL if there is none. */
static char *filter_of(const struct sql_condition *c, const struct row_printer *p)
{
	const char *op;

	/* the largest one also stands for all that __s64 cannot hold */
	if (c->least != c->most || c->least == INT64_MAX)
		return NULL;
	if (is_kind(c->column, "device") && !strcmp(c->column->field, "device"))
		return xasprintf("dev=%u:%u", (unsigned int)(c->least >> 20),
				 (unsigned int)(c->least & 0xfffff));
	if (!strcmp(c->column->field, "inode") && c->least >= 0)
		return xasprintf("inode=%lld", (long long)c->least);
	op = is_kind(c->column, "op") ? iot_names_op_name(p->event->id, c->least) : NULL;
	return op ? xasprintf("op=%s", op) : NULL;
}

static bool narrow_time(const struct sql_condition *c, struct selection *s)
{
	if (c->least > 0 && (__u64)c->least > s->begin)
		s->begin = c->least;
	if (c->most >= 0 && c->most < INT64_MAX && (__u64)c->most + 1 < s->end)
		s->end = c->most + 1;
	return true;
}

/* A condition of the same key may be there already: then that one has to do. */
bool sql_where_narrow(const struct sql_where *w, const struct row_printer *p, struct selection *s)
{
	bool narrowed = false;
	size_t i;

	for (i = 0; i < w->nr; i++) {
		const struct sql_condition *c = &w->at[i];
		char *filter = c->column ? filter_of(c, p) : NULL;
		char *why = filter ? select_add(&s->select, filter) : NULL;

		narrowed |= c->column ? filter && !why : narrow_time(c, s);
		free(filter);
		free(why);
	}
	return narrowed;
}

/* --- records -------------------------------------------------------------------- */

static bool meets(const struct sql_condition *c, const struct row_printer *p, const void *record,
		  __s64 begin)
{
	__s64 value = begin;

	if (c->column && c->is_stored)
		value = record_scalar(record, c->column->offset, c->column->size);
	else if (c->column && !row_integer(p, c->column, record, &value))
		return true;
	return value >= c->least && value <= c->most;
}

bool sql_where_meets(const struct sql_where *w, const struct row_printer *p, const void *record,
		     __s64 begin)
{
	size_t i;

	for (i = 0; i < w->nr; i++)
		if (!meets(&w->at[i], p, record, begin))
			return false;
	return true;
}
