/* SPDX-License-Identifier: GPL-2.0 */
/* Wakes tasks that wait for events. Writers of events never do. */
#ifndef IOT_POLLER_H
#define IOT_POLLER_H

#include <linux/types.h>

struct file;
struct poll_table_struct;

void iot_poller_get(void);
void iot_poller_put(void);
void iot_poller_close(void);
void iot_poller_exit(void);
bool iot_poller_closed(void);
void iot_poller_wake(void);
unsigned int iot_poller_ticks(void);
int iot_poller_sleep(unsigned int seen);
void iot_poller_wait(struct file *file, struct poll_table_struct *wait);

#endif /* IOT_POLLER_H */
