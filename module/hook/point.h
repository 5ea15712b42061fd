/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints, found by name. */
#ifndef IOT_POINT_H
#define IOT_POINT_H

#include <linux/compiler.h>
#include <linux/preempt.h>
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

static __always_inline int iot_point_enter(void)
{
	preempt_disable_notrace();
	return 0;
}

static __always_inline void iot_point_leave(const int *entered)
{
	preempt_enable_notrace();
}

/*
 * IOT_POINT_ENTER() - turn preemption off until the end of the function
 *
 * The first declaration of each probe: since Linux 7.0 the kernel calls probes of tracepoints with
 * preemption on (__DECLARE_TRACE() in include/linux/tracepoint.h).
 */
#define IOT_POINT_ENTER()								\
	const int entered __always_unused __attribute__((__cleanup__(iot_point_leave))) =	\
		iot_point_enter()

int iot_point_get(struct iot_point *point);
void iot_point_put(struct iot_point *point);
int iot_points_get(struct iot_point *points, size_t nr);
void iot_points_put(struct iot_point *points, size_t nr);
void iot_points_wait(void);
void iot_points_show(struct seq_file *m);

#endif /* IOT_POINT_H */
