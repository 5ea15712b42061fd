/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The calls of a category that wait: the lines of its file waiting, in the metadata of a trace.
 *
 *	"waiting": { "calls": 3, "by_op": { "RECV": 2, "SEND": 1 }, "listed": [ { "op": "RECV", ... } ] }
 */
#ifndef TOOL_RECORD_WAITING_H
#define TOOL_RECORD_WAITING_H

#include <jansson.h>
#include <stddef.h>

struct anonymizer;

#define WAITING_KEY	"waiting"	/* in a category of metadata.json */
#define WAITING_MAX	64		/* calls of a category that a trace lists; all are counted */

/*
 * Reads the calls that wait now, of which @most are listed. @a: NULL, or hides names. Returns 0, and
 * the caller frees *@found; or a negative errno: -ENOENT if the category has no such file.
 */
int waiting_read(const char *category, const struct anonymizer *a, size_t most, json_t **found);

/* "3 calls: 2 RECV, 1 SEND" for an array of categories; NULL for no call. The caller frees it. */
char *waiting_summary(const json_t *categories);

/* A call of "listed" as the module's file has it. The caller frees it. */
char *waiting_line(const json_t *call);

#endif /* TOOL_RECORD_WAITING_H */
