/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The receipt of a trace: sums over its records beside what the kernel counts of the same thing,
 * for anybody to check. metadata.json has it.
 *
 * Of the whole machine these are the counters that the kernel has since boot, read at the begin
 * and the end. No event happens while they are read, to the nanosecond, so those that end close to
 * it, at the edges, may be in the kernel's difference or not, and are summed apart. Of a command it
 * is what /proc/PID/io has when the command, and each of its descendants, has ended.
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

/* Whether the machine's counters are compared: whether it makes sense to read them. */
bool receipt_is_of_machine(const struct receipt *r);

/* Reads the kernel's counters: at the begin, when all categories are started, and at the end. */
void receipt_begin(struct receipt *r);
void receipt_end(struct receipt *r);

/* Adds records of the @i-th category, in any order. */
void receipt_sum(struct receipt *r, size_t i, const char *records, size_t nr);

/* The @i-th category has this many events fewer than happened, beside those that it had before. */
void receipt_lose(struct receipt *r, size_t i, __u64 lost, __u64 missed);

/* What metadata.json has of it. @command: NULL if there was none. */
json_t *receipt_json(struct receipt *r, const struct receipt_command *command);

/* How many of the comparisons in @json have this verdict. */
size_t receipt_count(const json_t *json, const char *verdict);

/*
 * Prepares to count again what the receipt in a trace's metadata says: call receipt_sum() with all of
 * its records then, and receipt_verify(). False if it has none that is of this trace alone.
 */
bool receipt_again(struct receipt *r, const json_t *document);

/* Reports the lines whose sums are not those of the records. Returns their number. */
size_t receipt_verify(const struct receipt *r, const json_t *document, const char *trace);

void receipt_free(struct receipt *r);

#endif /* TOOL_RECORD_RECEIPT_H */
