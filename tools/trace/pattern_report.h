/* SPDX-License-Identifier: GPL-2.0 */
/* Access patterns as text of 80 columns, as JSON or as CSV, on standard output. */
#ifndef TOOL_TRACE_PATTERN_REPORT_H
#define TOOL_TRACE_PATTERN_REPORT_H

#include <jansson.h>

#include "trace/access_map.h"
#include "trace/basis.h"
#include "trace/pattern.h"
#include "trace/reuse.h"

/* The patterns of a category, and what they rest on. */
struct pattern_report {
	const char *category;
	const struct patterns *patterns;
	struct basis basis;
	const struct reuse *reuse;	/* a row for each of the patterns; NULL: not asked for */
	const struct access_map *maps;	/* of the first rows; NULL: not asked for */
	size_t nr_maps;
};

void pattern_report_text(const struct pattern_report *r);
json_t *pattern_report_json(const struct pattern_report *r);

/* The names of the columns, which all categories share; then a row for each key and kind. */
void pattern_report_csv_header(const struct stats_keys *keys, bool with_reuse);
void pattern_report_csv(const struct pattern_report *r);

struct key_text pattern_row_keys(const struct patterns *p, const struct pattern_row *row);

/* Parts of these, for rows of other keys: a row below its heading, and a member of JSON. */
#define PATTERN_ORDERS_TITLE	"      SHARE OF ACCESSES          SHARE OF BYTES"
#define PATTERN_ORDERS_HEADING	"        COUNT  MIX   BYTES  MIX  SEQ STRIDE SAME RANDOM  SEQ STRIDE SAME RANDOM"
#define PATTERN_SIZES_TITLE	"                        ALIGNED TO"
#define PATTERN_SIZES_HEADING	"           MIN      AVG      MAX    USUAL SHARE    512     4K    64K     1M"
void pattern_report_orders(const struct pattern_row *row, unsigned int kind);
void pattern_report_sizes(const struct pattern_row *row, unsigned int kind);
json_t *pattern_report_kind_json(const struct pattern_kind *k);

#endif /* TOOL_TRACE_PATTERN_REPORT_H */
