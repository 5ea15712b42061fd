/* SPDX-License-Identifier: GPL-2.0 */
/* File data in memory that a category's filter wants and that is not written back yet. */
#ifndef IOT_DIRTY_H
#define IOT_DIRTY_H

#include <linux/types.h>

struct iot_category;

/**
 * struct iot_dirty - data of files that is only in memory
 * @dirty:	bytes whose writeback has not started
 * @writeback:	bytes under writeback
 * @unknown:	number of filesystems that are not counted, as they are just being unmounted,
 *		remounted or frozen
 */
struct iot_dirty {
	u64 dirty;
	u64 writeback;
	unsigned int unknown;
};

int iot_dirty_sum(struct iot_category *c, struct iot_dirty *sum);

#endif /* IOT_DIRTY_H */
