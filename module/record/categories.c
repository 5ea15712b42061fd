// SPDX-License-Identifier: GPL-2.0
/* All categories: uapi/categories.def */
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include "record/categories.h"
#include "record/filter.h"
#include "record/rings.h"
#include "uapi/iotracer.h"

#define IOT_CATEGORY(category, CATEGORY, by_default, has, meaning)	\
	struct iot_category iot_category_##category = {			\
		.of = {							\
			.name = #category,				\
			.event_id = IOT_EVENT_ID_##CATEGORY,		\
			.default_kinds = (by_default),			\
		},							\
		.traits = (has),					\
	};
#include "uapi/categories.def"

struct iot_category * const iot_categories[] = {
#define IOT_CATEGORY(name, ...)	&iot_category_##name,
#include "uapi/categories.def"
};

const size_t iot_categories_nr = ARRAY_SIZE(iot_categories);

/*
 * All records begin with the same fields: logs are merged by the end of the event, which is the
 * sum of the second and the third word (log_merge.c).
 */
#define IOT_CATEGORY(name, ...)								\
	static_assert(sizeof(struct iot_##name) <= IOT_RECORD_WORDS_MAX * sizeof(u64) &&	\
		      offsetof(struct iot_##name, time) == sizeof(u64) &&		\
		      offsetof(struct iot_##name, latency) == 2 * sizeof(u64));
#include "uapi/categories.def"

/** iot_categories_have() - check whether a category has this name */
bool iot_categories_have(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(iot_categories); i++)
		if (!strcmp(iot_categories[i]->of.name, name))
			return true;
	return false;
}

static void mark_paths(struct iot_category *c, void *marks)
{
	iot_category_mark_paths(c, marks);
}

/** iot_categories_mark_paths() - mark the paths that kept records name. Context: task, may sleep */
void iot_categories_mark_paths(unsigned long *marks)
{
	iot_categories_for_each(mark_paths, marks);
}

static void cpu_comes_to(struct iot_category *c, void *cpu)
{
	iot_log_add_cpu(&c->log, *(int *)cpu);
}

static void cpu_comes(int cpu)
{
	iot_categories_for_each(cpu_comes_to, &cpu);
}

/** iot_categories_init() - set up all categories at load. Return: 0 or -ENOMEM */
int iot_categories_init(void)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(iot_categories); i++) {
		err = iot_category_init(iot_categories[i]);
		if (err) {
			iot_categories_free();
			return err;
		}
	}
	return 0;
}

/** iot_categories_follow_cpus() - follow CPU hotplug, from load on. Return: 0 or an error */
int iot_categories_follow_cpus(void)
{
	return iot_rings_init(cpu_comes);
}

/** iot_categories_unfollow_cpus() - stop that at unload, when nothing can be started any more */
void iot_categories_unfollow_cpus(void)
{
	iot_rings_exit();
}

/**
 * iot_categories_stop() - stop all categories at unload, when /proc/iotracer is gone
 *
 * All hooks are released, including those of filters.
 */
void iot_categories_stop(void)
{
	struct iot_filter *filters[ARRAY_SIZE(iot_categories)];
	bool any = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(iot_categories); i++) {
		filters[i] = iot_category_end(iot_categories[i]);
		any |= !!filters[i];
	}
	if (any)
		synchronize_rcu(); /* probes that still run after this find no filter */
	for (i = 0; i < ARRAY_SIZE(iot_categories); i++)
		iot_filter_free(filters[i]);
}

/** iot_categories_free() - free all categories at unload, when no probe is left */
void iot_categories_free(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(iot_categories); i++)
		iot_category_free(iot_categories[i]);
}
