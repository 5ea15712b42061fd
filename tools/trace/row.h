/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records as rows of CSV or objects of JSON. The kind of a field in events.def, or a
 * function of the category, determines what its column shows.
 */
#ifndef TOOL_TRACE_ROW_H
#define TOOL_TRACE_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "core/schema.h"

struct anonymizer;
struct paths;
struct row_printer;
struct source;
struct wall_clock;

/* Bytes that a row takes at most. */
#define ROW_MAX (1024 * 1024)

/* Bytes of a column's text that is kept. */
#define ROW_AGAIN 64

struct row_column;

/* Writes a column's text at @out; returns its end. */
typedef char *(*row_put)(struct row_printer *p, const struct row_column *c,
			 char *out, const void *record);

/*
 * A column: @field of the event, shown according to its kind, or the text that @put
 * makes from the record. The rest is filled in when the printer is opened.
 */
struct row_column {
	const char *name;
	const char *field;
	row_put put;

	unsigned int offset, size;
	const char *kind;	/* kind of @field */
	char *key;		/* the text before the value */
	size_t key_length;
	char *made;		/* the name, if the printer allocated it */

	/* What the column showed last, with the text before it: fields often have the value that they had. */
	enum { ROW_ANEW, ROW_BY_VALUE, ROW_BY_OP_AND_VALUE } again;
	int luck;		/* how often it had, less how often it had not */
	__u64 last;
	unsigned int last_length;	/* 0: nothing is kept */
	char last_text[ROW_AGAIN];
};

struct row_printer {
	const struct iot_schema_event *event;
	struct row_column *columns;
	size_t nr_columns;
	bool json;
	bool bare;			/* texts are written without quotes, for row_field() */
	__u64 t0;			/* ns; start of timestamps if there is no clock */
	const struct wall_clock *clock;	/* not NULL: timestamps are dates and times of day */
	const struct paths *paths;	/* the texts of paths; NULL: shows their ids */
	const struct anonymizer *anonymizer;	/* NULL: names are shown */
	bool with_sources;		/* columns for host and trace that a record is of */
	const struct source *source;	/* those of the record; NULL: not known */
	const struct row_column *added;	/* columns of the caller, behind all others */
	size_t nr_added;
	const void *context;		/* for their functions */
	const char *note;		/* command line of the record, if there is one */
	size_t note_length;
	unsigned int op_offset;		/* offset of the field op, if there is one */
	__u64 second;			/* the second that second_text shows */
	char second_text[24];
	size_t second_length;
	struct row_comm *comms;	/* cached texts */
	struct row_flags *flags;
};

/*
 * Set in a printer before it is opened: event, json or bare, t0 or clock, paths, anonymizer,
 * with_sources, added. Ask xalloc_failed() after it, where a lack of memory is no end.
 */
void row_printer_open(struct row_printer *p, const struct row_column *columns,
		      size_t nr);

/*
 * Opens a printer for our own columns: the start time, in a column whose name shows how it
 * is counted, each field of the event, the note, if records of the event have one, the source, if
 * the trace is a merged one, and those that were added.
 */
void row_printer_open_own(struct row_printer *p, bool with_note);
void row_printer_close(struct row_printer *p);

/* Each returns the end of what it wrote, ROW_MAX bytes at most. */
char *row_header(const struct row_printer *p, char *out);
char *row_print(struct row_printer *p, char *out, const void *record);

/* As above, the text of one field, as its own column shows it. NULL if it is not shown. */
char *row_field(struct row_printer *p, char *out, const struct iot_schema_field *f, const void *record);

/* Whether a column that shows integers shows negative ones. */
bool row_column_is_signed(const struct row_column *c);

/*
 * Whether a column shows integers, and the one of a record. False if that is beyond __s64, as 64 ones
 * are: then the column's text has its digits.
 */
bool row_column_is_integer(const struct row_column *c);
bool row_integer(const struct row_printer *p, const struct row_column *c, const void *record, __s64 *n);

/* Writes a text, quoted as the format requires. @plain: there is nothing to quote. */
char *row_text(const struct row_printer *p, char *out, const char *text,
	       size_t length, bool plain);

/* Writes flags by name; @group must live as long as the printer. */
char *row_group(struct row_printer *p, char *out, const char *group, __u32 value);

/* As above, the flags of an operation, with those that every operation of the event may have. */
char *row_opflags(struct row_printer *p, char *out, const char *group, __u32 value);

/*
 * Writes an address of 16 bytes: one of IPv6, or of IPv4 if it is a mapped one; nothing if all are zero.
 * Writes a port. Both as the anonymizer has them, if there is one.
 */
char *row_ipaddr(const struct row_printer *p, char *out, const char *bytes);
char *row_port(const struct row_printer *p, char *out, __u16 port);

/* Writes 4 or 6, which a socket of this family speaks with the other end; nothing for other families. */
char *row_ip_version(const struct row_printer *p, char *out, unsigned int family, const char *remote);

/*
 * Column functions: date and time of day (ISO 8601), or seconds since T0; date and time of
 * day as in IO Tracer, separated by a blank and with microseconds; the note.
 */
char *row_timestamp(struct row_printer *p, const struct row_column *c,
		    char *out, const void *record);
char *row_datetime(struct row_printer *p, const struct row_column *c,
		   char *out, const void *record);
char *row_note(struct row_printer *p, const struct row_column *c,
	       char *out, const void *record);

/* The column of a field: its name, and its unit after it (latency_ns). The caller frees it. */
char *row_field_column(const struct iot_schema_field *f);

/* Whether a field has a column. */
bool row_field_is_shown(const struct iot_schema_field *f);

#endif /* TOOL_TRACE_ROW_H */
