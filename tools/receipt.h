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
#ifndef TOOL_RECEIPT_H
#define TOOL_RECEIPT_H

#include <jansson.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "category.h"
#include "kernel_counts.h"
#include "sums.h"

#define RECEIPT_KEY "receipt"	/* in metadata.json */
#define RECEIPT_EDGE_NS 10000000	/* an event may be counted this much later than it ends */

/* The filter of a category, as far as it decides what can be compared. */
struct receipt_filter {
	bool tree;		/* tree=, by which a command is recorded */
	bool all_kinds;		/* kind=all */
	bool rejected;		/* rejected=1 */
	__u64 cgroup;		/* cgroup=, 0: none */
	char *devices;		/* ",8:0,8:1," or NULL: all */
	char *operations;	/* ",READ,WRITE," or NULL: all */
	char *other;		/* another key, or NULL */
};

struct receipt_part {
	const struct category *category;
	struct receipt_filter filter;
	bool summed;			/* its records have sums that are compared */
	size_t size, time, latency;	/* of a record, and of its fields in it */
	struct sums sums, edges;
	__u64 lost, missed;
};

/* What a command and its descendants did, which have all ended and were reaped. */
struct receipt_command {
	struct kernel_io io;
	__u64 faults[2];		/* minor and major */
};

struct receipt {
	bool of_command;		/* else of the machine */
	bool sampled;
	const char *unknown;		/* why nothing can be compared, or NULL */
	struct receipt_part *parts;
	size_t nr;
	__u64 begin, end;		/* ns: what ends between is in the kernel's difference; end 0: not yet */
	__u64 from, until;		/* ns: the edges; until 0: not yet */
	struct kernel_counts before, after;
};

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

#endif /* TOOL_RECEIPT_H */
