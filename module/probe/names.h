/* SPDX-License-Identifier: GPL-2.0 */
/* Buffers for the names that calls of category fs get: fs_name.c */
#ifndef IOT_PROBE_NAMES_H
#define IOT_PROBE_NAMES_H

int iot_name_init(void);
void iot_name_exit(void);

#endif /* IOT_PROBE_NAMES_H */
