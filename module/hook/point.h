/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints, found by name. */
#ifndef IOT_POINT_H
#define IOT_POINT_H

#include <linux/types.h>

struct seq_file;
struct tracepoint;

/** struct iot_point - a kernel tracepoint, found by name, and its probe */
struct iot_point {
	const char *name;
	void *probe;
	struct tracepoint *tp;
	unsigned int users;
};

int iot_point_get(struct iot_point *point);
void iot_point_put(struct iot_point *point);
int iot_points_get(struct iot_point *points, size_t nr);
void iot_points_put(struct iot_point *points, size_t nr);
void iot_points_wait(void);
void iot_points_show(struct seq_file *m);

#endif /* IOT_POINT_H */
