/* SPDX-License-Identifier: GPL-2.0 */
/* Reads and writes that the kernel makes itself, and the call that they are made for. */
#ifndef IOT_INNER_H
#define IOT_INNER_H

#include <linux/types.h>

u16 iot_inner_flags(void);

#endif /* IOT_INNER_H */
