/* SPDX-License-Identifier: GPL-2.0 */
/* Buffers for the names that calls of category fs get. */
#ifndef IOT_FS_NAME_H
#define IOT_FS_NAME_H

int iot_name_buffers_init(void);
void iot_name_buffers_exit(void);

#endif /* IOT_FS_NAME_H */
