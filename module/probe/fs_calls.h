/* SPDX-License-Identifier: GPL-2.0 */
/* The calls of category fs other than reads and writes. */
#ifndef IOT_FS_CALLS_H
#define IOT_FS_CALLS_H

int iot_fs_calls_start(void);
void iot_fs_calls_stop(void);
unsigned long iot_fs_calls_missed(void);

#endif /* IOT_FS_CALLS_H */
