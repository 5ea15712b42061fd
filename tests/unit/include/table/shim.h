/* SPDX-License-Identifier: GPL-2.0 */
/* What module/core/table.[ch] use of the kernel, for one thread in userspace. */
#ifndef UNIT_TABLE_SHIM_H
#define UNIT_TABLE_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef struct { int counter; } atomic_t;

#define likely(x) (x)
#define unlikely(x) (x)
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define noinline __attribute__((noinline))
#define __aligned(n) __attribute__((aligned(n)))
#define __read_mostly

#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, value) ((x) = (value))
#define smp_store_release(p, value) (*(p) = (value))
#define cmpxchg(p, old, new) __sync_val_compare_and_swap(p, old, new)

#define atomic_read(v) ((v)->counter)
#define atomic_inc(v) ((v)->counter++)
#define atomic_dec(v) ((v)->counter--)

u64 get_random_u64(void);

#define vzalloc(bytes) calloc(1, bytes)
#define vfree(p) free(p)
#define ENOMEM 12

#endif /* UNIT_TABLE_SHIM_H */
