/* SPDX-License-Identifier: GPL-2.0 */
/* Category block: requests of block devices. */
#ifndef IOT_BLOCK_H
#define IOT_BLOCK_H

#include <linux/types.h>
#include "category.h"

extern struct iot_category iot_block;

#endif /* IOT_BLOCK_H */
