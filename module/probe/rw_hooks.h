/* SPDX-License-Identifier: GPL-2.0 */
/* Which functions are hooked for the reads and writes of category fs. */
#ifndef IOT_RW_HOOKS_H
#define IOT_RW_HOOKS_H

int iot_rw_start(void);
void iot_rw_stop(void);
int iot_rw_track(void);
void iot_rw_untrack(void);
int iot_rw_refresh(void);
unsigned long iot_rw_unseen(void);
unsigned long iot_rw_missed(void);

#endif /* IOT_RW_HOOKS_H */
