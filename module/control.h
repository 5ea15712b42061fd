/* SPDX-License-Identifier: GPL-2.0 */
/* /proc/iotracer itself. */
#ifndef IOT_CONTROL_H
#define IOT_CONTROL_H

int iot_control_init(void);
void iot_control_exit(void);

#endif /* IOT_CONTROL_H */
