/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a record adds to sums: how many events it stands for, whether the operation failed, its latency
 * and its bytes.
 *
 * Bytes are those that were moved, as the record has them:
 *
 *	fs		result of reads, writes and of what copies (SENDFILE, SPLICE, ...)
 *	block		result of READ, WRITE, ZONE_APPEND, DRV_IN and DRV_OUT
 *	net		moved
 *	uring		result of COMPLETE, of the opcodes that read, write, send, receive or splice
 *	cache, fault	pages, 4 KiB each
 *	drop		size, of PACKET_DROP and TCP_RETRANSMIT
 *
 * Other operations have none, nor has one that failed.
 */
#ifndef TOOL_TRACE_MEASURE_H
#define TOOL_TRACE_MEASURE_H

#include <stdbool.h>
#include <linux/types.h>

#include "core/schema.h"

#define MEASURE_ERRNO 4095	/* the largest errno */

/* Where the fields of an event are. */
struct measurer {
	const struct iot_schema_event *event;
	const struct iot_schema_field *result, *sample, *op, *opcode, *bytes;
	__u64 ops;		/* a bit for each operation that moves bytes */
	__u64 opcodes;		/* uring: a bit for each opcode that does */
	__u64 factor;		/* bytes that 1 of @bytes is */
	unsigned int time, latency;	/* offsets */
};

struct measure {
	__u64 time;		/* CLOCK_MONOTONIC ns: when it began */
	__u64 latency;		/* ns */
	__u64 weight;		/* events that the record stands for: 1, or N of 'sample N' */
	__u64 bytes;
	bool has_bytes;		/* it is of an operation that moves bytes, and did not fail */
	unsigned int error;	/* errno; 0: it did not fail */
};

void measurer_open(struct measurer *m, const struct iot_schema_event *event);
void measure(const struct measurer *m, const void *record, struct measure *to);

#endif /* TOOL_TRACE_MEASURE_H */
