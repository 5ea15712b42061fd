/* SPDX-License-Identifier: GPL-2.0 */
/* Work that may wait for a filesystem for ever, done where nobody waits for it. */
#ifndef IOT_ASIDE_H
#define IOT_ASIDE_H

#include <linux/workqueue.h>
#include "core/visit.h"

/**
 * struct iot_aside - work that may never end
 * @visit:	holds the module until iot_aside_end()
 */
struct iot_aside {
	struct work_struct work;
	struct iot_visit visit;
};

int iot_aside_begin(struct iot_aside *a, work_func_t fn, const char *what, const char *name);
void iot_aside_lend(struct iot_aside *a, work_func_t fn, const char *what, const char *name);

/** iot_aside_of() - get the work that a worker does */
static inline struct iot_aside *iot_aside_of(struct work_struct *work)
{
	return container_of(work, struct iot_aside, work);
}

/** iot_aside_end() - end the work, which may then be freed. Context: its worker */
static inline void iot_aside_end(struct iot_aside *a)
{
	iot_visit_end(&a->visit);
}

int iot_aside_init(void);
void iot_aside_exit(void);

#endif /* IOT_ASIDE_H */
