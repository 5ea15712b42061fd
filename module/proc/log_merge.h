/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the rings of a log, and merges their records by the time at which events ended. */
#ifndef IOT_LOG_MERGE_H
#define IOT_LOG_MERGE_H

#include "record/log.h"

enum iot_front_state {
	IOT_FRONT_NONE,		/* there is no record */
	IOT_FRONT_FULL,		/* there is a copy of one */
	IOT_FRONT_PENDING,	/* the next one is lost, or not complete yet */
};

/**
 * struct iot_front - the first record of a ring that was not taken
 * @at:		its sequence number, and how many are gone before it
 * @end:	no record from this sequence number on is read
 * @record:	memory for a copy of it
 */
struct iot_front {
	enum iot_front_state state;
	struct iot_pipe_position at;
	u64 end;
	u64 *record;
};

/**
 * struct iot_merge - a reader of all rings
 * @masked:	it may not see addresses
 * @rings:	a reference is held while it reads, else NULL
 * @t0:		T0 of the log at iot_merge_begin(), CLOCK_MONOTONIC ns
 * @records:	memory for the copies
 * @front:	by ring; @nr of them
 */
struct iot_merge {
	struct iot_log *log;
	bool masked;
	struct iot_rings *rings;
	u64 t0;
	u64 *records;
	unsigned int nr;
	struct iot_front front[];
};

struct iot_merge *iot_merge_new(struct iot_log *log, bool masked);
void iot_merge_free(struct iot_merge *m);

bool iot_merge_begin(struct iot_merge *m);
void iot_merge_end(struct iot_merge *m);

u64 iot_merge_catch_up(struct iot_pipe_position *at, const struct iot_shard *shard, u64 *end);
void iot_merge_pass(struct iot_pipe_position *at);
void iot_merge_look(struct iot_merge *m, unsigned int i, bool follow);
struct iot_front *iot_merge_best(struct iot_merge *m);

#endif /* IOT_LOG_MERGE_H */
