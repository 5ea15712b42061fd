/* SPDX-License-Identifier: GPL-2.0 */
/* The keys of a row, as the first column of a table, members of a JSON object, or columns of CSV. */
#ifndef TOOL_TRACE_KEY_TEXT_H
#define TOOL_TRACE_KEY_TEXT_H

#include <jansson.h>
#include <linux/types.h>

#include "trace/key_table.h"

#define KEY_TEXT_WIDTH	80	/* columns of a page */
#define KEY_TEXT_FIRST	17	/* of the first column of a table; a longer text has a line of its own */

#define KEY_TEXT_OTHERS	(~0U)

struct key_text {
	const struct key_table *table;
	__u32 key;		/* number of the key, or KEY_TEXT_OTHERS */
	__u32 folded;		/* of others: keys that the row is of; else 0 */
	const char *command;	/* what belongs to a process; NULL: rows have none */
};

/* "READ", "8:1 READ", "123 fio", "3 others". The caller frees it. */
char *key_text(const struct key_text *k);

/* Prints a label as the first column: KEY_TEXT_FIRST characters, or a line and the blanks of that. */
void key_text_put_first(const char *label);

/* As above, as a line. One that is too wide has its end. */
void key_text_put_line(const char *label);

/* "PROCESS", "DEVICE OP": the names of the keys for the head of a table. The caller frees it. */
char *key_text_heading(const struct stats_keys *keys);

/* Members for the keys, null for others, then "command" if there is one, and "others". */
void key_text_json(json_t *object, const struct key_text *k);

/* The same as columns, each with a comma behind it. */
void key_text_csv_header(const struct stats_keys *keys);
void key_text_csv(const struct key_text *k);

#endif /* TOOL_TRACE_KEY_TEXT_H */
