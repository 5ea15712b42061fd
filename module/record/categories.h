/* SPDX-License-Identifier: GPL-2.0 */
/* All categories: uapi/categories.def */
#ifndef IOT_CATEGORIES_H
#define IOT_CATEGORIES_H

#include "record/category.h"

#define IOT_CATEGORY(name, ...)	extern struct iot_category iot_category_##name;
#include "uapi/categories.def"

extern struct iot_category * const iot_categories[];
extern const size_t iot_categories_nr;

bool iot_categories_have(const char *name);
void iot_categories_mark_paths(unsigned long *marks);

int iot_categories_init(void);
int iot_categories_follow_cpus(void);
void iot_categories_unfollow_cpus(void);
void iot_categories_stop(void);
void iot_categories_free(void);

#endif /* IOT_CATEGORIES_H */
