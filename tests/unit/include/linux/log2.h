/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_LOG2_H
#define UNIT_LINUX_LOG2_H

/* For n > 0. */
#define ilog2(n) (63 - __builtin_clzll(n))

#endif /* UNIT_LINUX_LOG2_H */
