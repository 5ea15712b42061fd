/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The end of what can be started: categories, scopes of them, and targets of files.
 *
 * A task is let into a file of /proc/iotracer, and takes the locks of its object later: it may
 * wait for them, or for its own memory, for any time. Meanwhile the object may be removed. So one
 * rule holds for all objects: one that has ended is never started again, although a task may still
 * have one of its files open.
 *
 * - An object ends once: iot_category_end(), iot_target_detach(). It is marked here under all locks
 *   that its commands take. Then it stops and releases its hooks, its filter, and its uses of
 *   mounts and paths.
 * - Whatever would give it something again checks the mark under one of these locks: start, a
 *   filter, another size or more operations fail with -ENODEV; settings, a reset, a reader, a ring
 *   for a new CPU have no effect.
 * - What only releases or shows something works until the object is freed: stop, log, stream, pipe,
 *   stats.
 * - The object is freed when its directory is gone: no task is inside a file of it (core/visit.c,
 *   proc/discard.c). At unload all directories go first.
 */
#ifndef IOT_LIFE_H
#define IOT_LIFE_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/types.h>

/**
 * struct iot_life - part of an object that can be started
 * @ended:	it will be freed
 */
struct iot_life {
	bool ended;
};

/** iot_life_end() - mark an object. Context: all locks that its commands take are held */
static inline void iot_life_end(struct iot_life *life)
{
	WRITE_ONCE(life->ended, true);
}

/** iot_life_has_ended() - without a lock: the object may end right after this. Context: any */
static inline bool iot_life_has_ended(const struct iot_life *life)
{
	return READ_ONCE(life->ended);
}

/**
 * iot_life_check() - may the object be given something?
 *
 * Context: under one of these locks. Return: 0, or -ENODEV if it has ended.
 */
static inline int iot_life_check(const struct iot_life *life)
{
	return iot_life_has_ended(life) ? -ENODEV : 0;
}

#endif /* IOT_LIFE_H */
