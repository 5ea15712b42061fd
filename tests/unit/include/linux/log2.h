/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_LOG2_H
#define UNIT_LINUX_LOG2_H

/* For 2 <= n <= 2^63. */
#define roundup_pow_of_two(n) (1ULL << (64 - __builtin_clzll((n) - 1)))

#endif /* UNIT_LINUX_LOG2_H */
