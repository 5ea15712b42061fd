/* SPDX-License-Identifier: GPL-2.0 */
/* Reads and writes that the VFS rejects: events of category fs if its filter has rejected=1. */
#ifndef IOT_REJECTED_H
#define IOT_REJECTED_H

int iot_rejected_refresh(void);
void iot_rejected_stop(void);
unsigned long iot_rejected_missed(void);

#endif /* IOT_REJECTED_H */
