/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A category: events of the whole system in rings of one CPU each, with control,
 * log, stream and stats in /proc/iotracer/<name>. Probes do not know of /proc.
 */
#ifndef IOT_CATEGORY_H
#define IOT_CATEGORY_H

#include <linux/compiler.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include "filter.h"
#include "ring.h"

struct iot_schema_event;
struct proc_dir_entry;

/**
 * struct iot_category - one category; static, for the life of the module
 * @active:	events are wanted: the first thing that a probe looks at
 * @sample:	one of so many events is recorded
 * @discard:	a full ring keeps what it has and loses what comes
 * @reader:	process that reads the stream: its own events are not wanted, 0 none
 * @filter:	under RCU, NULL for none
 * @rings:	one a CPU, under RCU: replaced by reset and size; NULL before first start
 * @name:	of its folder
 * @event:	descriptor of its records
 * @start:	attach all hooks; an error leaves none attached
 * @stop:	detach them; their probes may run until the next RCU tasks grace period
 * @missed:	events that the hooks could not follow
 * @op_name:	name of an operation, for the filter; NULL behind the last
 */
struct iot_category {
	bool active;
	bool discard;
	u32 sample;
	u32 reader;
	struct iot_filter __rcu *filter;
	struct iot_rings __rcu *rings;

	const char *name;
	unsigned int event_id;
	int (*start)(void);
	void (*stop)(void);
	unsigned long (*missed)(void);
	const char *(*op_name)(unsigned int op);

	/* category.c's own */
	const struct iot_schema_event *event;
	struct mutex lock;
	u64 keep;
	u64 t0;
	bool running;
	struct proc_dir_entry *dir;
	struct list_head readers;
};

static __always_inline bool iot_category_active(const struct iot_category *c)
{
	return READ_ONCE(c->active);
}

#endif /* IOT_CATEGORY_H */
