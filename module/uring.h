/* SPDX-License-Identifier: GPL-2.0 */
/* Category uring: requests of io_uring. */
#ifndef IOT_URING_H
#define IOT_URING_H

#include "category.h"

extern struct iot_category iot_uring;

#endif /* IOT_URING_H */
