/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The receipt of a trace: sums over its records beside the kernel's own counts, so that anybody can
 * compare them. metadata.json contains it.
 *
 * For the whole system, the kernel's counters since boot are read at the start and at the end.
 * Reading takes time. Events that end close to a reading (at the edges) may or may not be part of
 * the kernel's difference, so they are summed separately. For a command, the counts are those in
 * /proc/PID/io when the command, and each of its descendants, has ended.
 */
#ifndef TOOL_RECORD_RECEIPT_H
#define TOOL_RECORD_RECEIPT_H

#include <jansson.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "record/receipt_parts.h"

#define RECEIPT_KEY "receipt"	/* in metadata.json */
#define RECEIPT_EDGE_NS 10000000	/* an event may be counted this much later than it ends */

/* Adds a category with its filter, as control shows it. */
void receipt_add_category(struct receipt *r, const struct category *category, const char *filter);

/* Whether counters of the whole system are compared, and so have to be read. */
bool receipt_is_of_machine(const struct receipt *r);

/* Reads the kernel's counters: at the start, when all categories are started, and at the end. */
void receipt_begin(struct receipt *r);
void receipt_end(struct receipt *r);

/* Adds records of the @i-th category, in any order. */
void receipt_sum(struct receipt *r, size_t i, const char *records, size_t nr);

/* Adds to the numbers of events that are missing in the @i-th category. */
void receipt_lose(struct receipt *r, size_t i, __u64 lost, __u64 missed);

/* The receipt for metadata.json. @command: NULL if there was none. */
json_t *receipt_json(struct receipt *r, const struct receipt_command *command);

/* The number of comparisons in @json with this verdict. */
size_t receipt_count(const json_t *json, const char *verdict);

/*
 * Prepares to verify the receipt in a trace's metadata: the caller then passes all records to
 * receipt_sum(), and calls receipt_verify(). False if there is no receipt of this trace alone.
 */
bool receipt_again(struct receipt *r, const json_t *document);

/* Reports the comparisons whose sums differ from those of the records. Returns their number. */
size_t receipt_verify(const struct receipt *r, const json_t *document, const char *trace);

void receipt_free(struct receipt *r);

#endif /* TOOL_RECORD_RECEIPT_H */
