/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's accesses to shared memory, for module/core/ring.[ch] in userspace and
 * under ThreadSanitizer. Every object that the ring shares is a u64.
 *
 * ThreadSanitizer sees an order between threads only in atomic accesses. It does not model
 * fences. The ring has one order that rests on a fence: the reader's copy, an intended race
 * with writers that smp_rmb() and the second look at the state make harmless. So READ_ONCE()
 * is hidden from ThreadSanitizer. The fence is still issued for the processor, and the
 * checksums of the tests prove that no torn record is accepted.
 *
 * What remains visible is what must never race: the plain stores with which writers fill a
 * slot. All other accesses are as weak as the ring permits, and weaker than the kernel's where
 * those order more than the ring needs. So nothing but the state of a slot orders one writer's
 * fill before the next one's.
 */
#ifndef UNIT_LINUX_COMPILER_H
#define UNIT_LINUX_COMPILER_H

#include <linux/types.h>

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/*
 * Called before each access if a test has set it. The test then lets an interrupt, or other
 * CPUs, write to the ring.
 */
extern __thread void (*unit_hook)(void);

static __always_inline void unit_step(void)
{
	if (unit_hook)
		unit_hook();
}

u64 unit_hidden_load(const u64 *p);

static inline u64 unit_read_once(const u64 *p)
{
	unit_step();
	return unit_hidden_load(p);
}

static inline void unit_write_once(u64 *p, u64 value)
{
	unit_step();
	__atomic_store_n(p, value, __ATOMIC_RELAXED);
}

static inline u64 unit_load_acquire(const u64 *p)
{
	unit_step();
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static inline void unit_store_release(u64 *p, u64 value)
{
	unit_step();
	__atomic_store_n(p, value, __ATOMIC_RELEASE);
}

#define READ_ONCE(x) unit_read_once(&(x))
#define WRITE_ONCE(x, value) unit_write_once(&(x), value)
#define smp_load_acquire(p) unit_load_acquire(p)
#define smp_store_release(p, value) unit_store_release(p, value)
#define smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)

#endif /* UNIT_LINUX_COMPILER_H */
