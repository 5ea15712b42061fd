/* SPDX-License-Identifier: GPL-2.0 */
/* Category cache: what happens to the pages of files in memory. */
#ifndef IOT_CACHE_H
#define IOT_CACHE_H

#include "category.h"

extern struct iot_category iot_cache;

#endif /* IOT_CACHE_H */
