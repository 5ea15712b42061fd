/* SPDX-License-Identifier: GPL-2.0 */
/* A shrinker, which newer kernels allocate and older ones take from the caller. */
#ifndef IOT_COMPAT_SHRINKER_H
#define IOT_COMPAT_SHRINKER_H

#include <linux/errno.h>
#include <linux/shrinker.h>
#include "compat/config.h"

struct iot_shrinker {
	unsigned long (*count)(struct shrinker *shrinker, struct shrink_control *sc);
	unsigned long (*scan)(struct shrinker *shrinker, struct shrink_control *sc);
#ifdef IOT_HAVE_SHRINKER_ALLOC
	struct shrinker *shrinker;
#else
	struct shrinker shrinker;
#endif
};

/* Return: 0 or -ENOMEM. Context: task, may sleep. */
static inline int iot_shrinker_register(struct iot_shrinker *s, const char *name)
{
#ifdef IOT_HAVE_SHRINKER_ALLOC
	s->shrinker = shrinker_alloc(0, "%s", name);
	if (!s->shrinker)
		return -ENOMEM;
	s->shrinker->count_objects = s->count;
	s->shrinker->scan_objects = s->scan;
	s->shrinker->seeks = DEFAULT_SEEKS;
	shrinker_register(s->shrinker);
	return 0;
#else
	s->shrinker.count_objects = s->count;
	s->shrinker.scan_objects = s->scan;
	s->shrinker.seeks = DEFAULT_SEEKS;
	return register_shrinker(&s->shrinker, "%s", name);
#endif
}

/* None of its functions runs any more once this returns. */
static inline void iot_shrinker_unregister(struct iot_shrinker *s)
{
#ifdef IOT_HAVE_SHRINKER_ALLOC
	shrinker_free(s->shrinker);
#else
	unregister_shrinker(&s->shrinker);
#endif
}

#endif /* IOT_COMPAT_SHRINKER_H */
