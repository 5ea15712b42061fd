/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What histograms are of: a value of each record that has one.
 *
 *	latency		field latency, ns; not of cache and drop, whose events are moments
 *	size		bytes that were moved (measure.h)
 *	queue-depth	block: field depth, the requests that the device had when it got this one, which
 *			is included. The kernel's count: whatever was lost, filtered out or sampled, it
 *			is right. Requests without it (EARLY, and bios of devices that have no requests)
 *			have no value
 *	lba		block: first sector on the disk, of operations on sectors
 *	offset		fs: byte in the file where a read or write of a file or device began;
 *			block: of the request's first byte in its file; fault and cache: field offset
 *	interarrival	ns from the beginning of one event until that of the next one with the same key
 *	run-length	fs, block: bytes of consecutive accesses, see access.h
 *
 * The last two depend on the order in which events began, and come from access.h.
 */
#ifndef TOOL_TRACE_HISTOGRAM_VALUE_H
#define TOOL_TRACE_HISTOGRAM_VALUE_H

#include <stdbool.h>
#include <linux/types.h>

#include "core/schema.h"
#include "trace/access.h"
#include "trace/measure.h"

/* In the order of HISTOGRAM_WORDS. */
enum histogram_of {
	HISTOGRAM_LATENCY, HISTOGRAM_SIZE, HISTOGRAM_QUEUE_DEPTH, HISTOGRAM_LBA, HISTOGRAM_OFFSET,
	HISTOGRAM_INTERARRIVAL, HISTOGRAM_RUN_LENGTH,
};

#define HISTOGRAM_WORDS "latency size queue-depth lba offset interarrival run-length"

enum histogram_unit { HISTOGRAM_NS, HISTOGRAM_BYTES, HISTOGRAM_REQUESTS, HISTOGRAM_SECTORS };

extern const struct histogram_kind {
	const char *name;
	enum histogram_unit unit;
	const char *column;	/* unit in names of columns: "ns" */
	const char *title;	/* of an axis */
	bool log;		/* logarithmic by default */
	bool ordered;		/* the value comes from access.h */
} histogram_kinds[];

/* Where the fields of an event are. */
struct histogram_values {
	enum histogram_of of;
	const struct iot_schema_event *event;
	const struct iot_schema_field *field, *op, *kind, *requested, *device, *inode;
};

/* False if the records of the event do not have it. */
bool histogram_values_open(struct histogram_values *v, enum histogram_of of,
			   const struct iot_schema_event *event);

/* The value of a record, if it has one; of a kind that is not ordered. */
bool histogram_value(const struct histogram_values *v, const void *record, const struct measure *m,
		     __u64 *value);

/* Whether a record has a part in an ordered kind: what its access is. Key and source are the caller's. */
bool histogram_access(const struct histogram_values *v, const void *record, const struct measure *m,
		      struct access *a);

#endif /* TOOL_TRACE_HISTOGRAM_VALUE_H */
