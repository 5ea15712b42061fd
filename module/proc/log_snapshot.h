/* SPDX-License-Identifier: GPL-2.0 */
/* The records that one reader of a target's log is shown. */
#ifndef IOT_VIEW_H
#define IOT_VIEW_H

#include "proc/target.h"

/**
 * struct iot_view - copies of records, taken at one moment
 * @records:	the copies; seq is filled in for those in @order
 * @order:	indices of the @records to show, in the order in which to show them
 * @nr:		number of indices in @order
 * @next_seq:	seq at which a later view continues
 * @t0:		T0 of the target at that moment
 */
struct iot_view {
	struct iot_io *records;
	u32 *order;
	size_t nr;
	u64 next_seq;
	u64 t0;
};

int iot_view_take(struct iot_view *view, struct iot_target *t, u64 from_seq);
int iot_view_sort(struct iot_view *view);
void iot_view_drop(struct iot_view *view);

#endif /* IOT_VIEW_H */
