/* SPDX-License-Identifier: GPL-2.0 */
/* A receipt (receipt.h), and the functions that the files receipt*.c share. */
#ifndef TOOL_RECORD_RECEIPT_PARTS_H
#define TOOL_RECORD_RECEIPT_PARTS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "machine/kernel_counts.h"
#include "trace/category.h"
#include "trace/sums.h"

/* The conditions of a category's filter that decide which sums can be compared. */
struct receipt_filter {
	bool tree;		/* tree=, with which a command is recorded */
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
	bool summed;			/* sums of its records are compared */
	size_t size, time, latency;	/* of a record, and of its fields in it */
	struct sums sums, edges;
	__u64 lost, missed;
};

/* Counts of a command and its descendants, which have all ended and were reaped. */
struct receipt_command {
	struct kernel_io io;
	__u64 faults[2];		/* minor and major */
};

struct receipt {
	bool of_command;		/* false: of the whole system */
	bool sampled;
	const char *unknown;		/* why nothing can be compared, or NULL */
	struct receipt_part *parts;
	size_t nr;
	__u64 begin, end;		/* ns: sure to be in the kernel's difference; end 0: not yet */
	__u64 from, until;		/* ns: the edges; until 0: not yet */
	struct kernel_counts before, after;
};

#define SECTOR 512

/* The names of the compared sums, by direction where there are several. */
static const char *const of_requests[] = {
	"requests read", "requests written", "requests discarded", "flushes",
};

static const char *const of_sectors[] = { "sectors read", "sectors written", "sectors discarded" };
static const char *const of_bytes[] = { "bytes read", "bytes written", "bytes discarded" };
static const char *const of_swapped[] = { "pages read from swap", "pages written to swap" };
static const char *const of_calls[] = { "calls that read", "calls that write" };
static const char *const of_moved[] = { "bytes read by calls", "bytes written by calls" };
#define OF_SUBMITTED "bytes read from devices"
#define OF_CHARGED "bytes written to devices"
#define OF_DIRTIED "pages made dirty"
#define OF_WRITTEN "pages written"
#define OF_FAULTS "faults"
#define OF_MINOR "minor faults"
#define OF_MAJOR "major faults"

/* The part with this event, or NULL. */
struct receipt_part *receipt_part_of(const struct receipt *r, unsigned int event_id);

/* A list of words as in struct receipt_filter, for receipt_has_word(). The caller frees it. */
char *receipt_list(const char *words);

/* Whether a list of the filter contains a word; NULL contains all words. */
bool receipt_has_word(const char *list, const char *word);

/* The sums of a disk, including its partitions, or of a partition. */
struct sums_device receipt_sum_devices(const struct sums *s, const char *name, __u32 device, bool disk);

#endif /* TOOL_RECORD_RECEIPT_PARTS_H */
