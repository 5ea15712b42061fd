/* SPDX-License-Identifier: GPL-2.0 */
/* What the files receipt*.c share. */
#ifndef TOOL_RECEIPT_PARTS_H
#define TOOL_RECEIPT_PARTS_H

#include "receipt.h"

#define SECTOR 512

/* What is compared, by direction where there are several. */
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

/* The part that has an event, or NULL. */
struct receipt_part *receipt_part_of(const struct receipt *r, unsigned int event_id);

/* Whether a list of the filter has a word; NULL has all. */
bool receipt_has_word(const char *list, const char *word);

/* A disk's requests, its partitions' included; or a partition's. */
struct sums_device receipt_sum_devices(const struct sums *s, const char *name, __u32 device, bool disk);

#endif /* TOOL_RECEIPT_PARTS_H */
