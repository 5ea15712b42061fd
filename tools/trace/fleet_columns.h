/* SPDX-License-Identifier: GPL-2.0 */
/* The columns of the tables that fleet.h keeps in files: those of a category, and of _trace. */
#ifndef TOOL_TRACE_FLEET_COLUMNS_H
#define TOOL_TRACE_FLEET_COLUMNS_H

#include <stddef.h>

#include "trace/basis.h"
#include "trace/category.h"
#include "trace/row.h"

struct fleet_column {
	const char *name;
	enum fleet_type { FLEET_TEXT, FLEET_TIME, FLEET_SIGNED, FLEET_UNSIGNED } type;
	unsigned int size;		/* bytes of an integer */
};

/*
 * Opens a printer for a category: its own columns, then begin_ns (ns since 1970 when the event
 * began) and trace (@id, which has to last as long as the printer). The caller has set event, clock,
 * paths and anonymizer.
 */
void fleet_printer_open(struct row_printer *p, const struct category *category, const char *id);

/* The @i-th column of a printer that is open. */
struct fleet_column fleet_printer_column(const struct row_printer *p, size_t i);

/* A row of _trace: what is known of a category of a trace, and what figures about it rest on. */
struct fleet_trace {
	const char *id, *category, *host, *kernel, *state, *tool_version;	/* escaped */
	__u64 format;
	struct basis basis;
	__u64 begin, end;		/* ns since 1970 */
};

/* The columns of _trace. */
extern const struct fleet_column fleet_trace_columns[];
extern const size_t nr_fleet_trace_columns;

/* Write the names of the columns, and a row, and return the end. csv_put() limits a text's size. */
char *fleet_trace_header(char *out);
char *fleet_trace_row(char *out, const struct fleet_trace *t);

#endif /* TOOL_TRACE_FLEET_COLUMNS_H */
