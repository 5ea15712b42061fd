/* SPDX-License-Identifier: GPL-2.0 */
/* The operations of each category's probes. */
#ifndef IOT_PROBE_CATEGORIES_H
#define IOT_PROBE_CATEGORIES_H

struct iot_category_ops;

/* Weak: NULL if the probes of a category do not compile and are left out. */
#define IOT_CATEGORY(name, ...)	extern const struct iot_category_ops iot_##name##_ops __weak;
#include "uapi/categories.def"

#endif /* IOT_PROBE_CATEGORIES_H */
