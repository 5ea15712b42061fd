/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's atomics; see linux/compiler.h for how strong they are and why. */
#ifndef UNIT_LINUX_ATOMIC_H
#define UNIT_LINUX_ATOMIC_H

#include <linux/compiler.h>

static inline s64 atomic64_read(const atomic64_t *v)
{
	unit_step();
	return __atomic_load_n(&v->counter, __ATOMIC_RELAXED);
}

static inline void atomic64_set(atomic64_t *v, s64 value)
{
	unit_step();
	__atomic_store_n(&v->counter, value, __ATOMIC_RELAXED);
}

static inline s64 atomic64_fetch_inc(atomic64_t *v)
{
	unit_step();
	return __atomic_fetch_add(&v->counter, 1, __ATOMIC_RELAXED);
}

static inline void atomic64_inc(atomic64_t *v)
{
	atomic64_fetch_inc(v);
}

/*
 * The fence orders later stores after the store of the exchange, as the kernel's
 * cmpxchg() does. An exchange that only acquires would not, on some processors.
 */
static inline bool unit_try_cmpxchg(u64 *p, u64 *old, u64 new)
{
	bool done;

	unit_step();
	done = __atomic_compare_exchange_n(p, old, new, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return done;
}

static inline u64 unit_cmpxchg(u64 *p, u64 old, u64 new)
{
	unit_try_cmpxchg(p, &old, new);
	return old;
}

#define cmpxchg(p, old, new) unit_cmpxchg(p, old, new)
#define try_cmpxchg(p, old, new) unit_try_cmpxchg(p, old, new)

#endif /* UNIT_LINUX_ATOMIC_H */
