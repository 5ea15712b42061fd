/* SPDX-License-Identifier: GPL-2.0 */
/* The files of a category in /proc/iotracer/<category>/. */
#ifndef IOT_CATEGORY_PROC_H
#define IOT_CATEGORY_PROC_H

struct iot_category;
struct iot_procdir;

int iot_category_mkdir(struct iot_category *c, struct iot_procdir *root);

#endif /* IOT_CATEGORY_PROC_H */
