/* SPDX-License-Identifier: GPL-2.0 */
/* /proc/iotracer itself. */
#ifndef IOT_CONTROL_H
#define IOT_CONTROL_H

#include <linux/types.h>

int iot_control_init(void);
void iot_control_exit(void);
bool iot_control_has(const char *name);

#endif /* IOT_CONTROL_H */
