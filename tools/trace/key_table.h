/* SPDX-License-Identifier: GPL-2.0 */
/* The keys (stats_key.h) of the records of an event as numbers: the first key is 0, each new one the next. */
#ifndef TOOL_TRACE_KEY_TABLE_H
#define TOOL_TRACE_KEY_TABLE_H

#include <stddef.h>
#include <linux/types.h>

#include "trace/intern.h"
#include "trace/stats_key.h"

struct key_table {
	struct stats_keys *keys;
	struct intern names;	/* the texts of the keys; names.nr is their number */
	__u32 *by_path;		/* number of the key of a path + 1, by place of its id; 0: not known */
	size_t nr_by_path;	/* grows when paths are added to those of the keys */
	char *text;		/* room for the keys of a record */
};

/* @keys are open. Close it in the end. */
void key_table_open(struct key_table *t, struct stats_keys *keys);
void key_table_close(struct key_table *t);

/* The number of a record's key, which is t->names.nr - 1 if it is new. */
__u32 key_table_add(struct key_table *t, const void *record);

/* As above, but a new key is not added: KEY_TABLE_NONE. */
#define KEY_TABLE_NONE INTERN_NONE
__u32 key_table_find(struct key_table *t, const void *record);

/* The text of the i-th of the keys with that number. */
const char *key_table_text(const struct key_table *t, __u32 number, size_t i);

/* Orders two numbers by their texts, for qsort(3). */
int key_table_compare(const struct key_table *t, __u32 x, __u32 y);

#endif /* TOOL_TRACE_KEY_TABLE_H */
