/* SPDX-License-Identifier: GPL-2.0 */
/* Sorted copies of the records of a log that has one ring. */
#ifndef IOT_LOG_SNAPSHOT_H
#define IOT_LOG_SNAPSHOT_H

#include "record/log.h"
#include "uapi/iotracer.h"

/**
 * struct iot_log_snapshot - copies of records, taken at one moment
 * @records:	the copies; seq is filled in for those in @order
 * @order:	indices of the @records to show, in the order in which to show them
 * @nr:		number of indices in @order
 * @next_seq:	seq at which a later snapshot continues
 * @t0:		T0 of the log at that moment
 */
struct iot_log_snapshot {
	struct iot_io *records;
	u32 *order;
	size_t nr;
	u64 next_seq;
	u64 t0;
};

int iot_log_snapshot_take(struct iot_log_snapshot *snapshot, struct iot_log *log, u64 from_seq);
int iot_log_snapshot_sort(struct iot_log_snapshot *snapshot);
void iot_log_snapshot_drop(struct iot_log_snapshot *snapshot);

#endif /* IOT_LOG_SNAPSHOT_H */
