/* SPDX-License-Identifier: GPL-2.0 */
/* A walk over all threads by their ids, in which no lock is held from one to the next. */
#ifndef IOT_THREAD_H
#define IOT_THREAD_H

#include <linux/types.h>

struct task_struct;

struct task_struct *iot_thread_from(int *nr, bool *more);

#endif /* IOT_THREAD_H */
