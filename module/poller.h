/* SPDX-License-Identifier: GPL-2.0 */
/* Wakes those who poll a stream: writers of events never do. */
#ifndef IOT_POLLER_H
#define IOT_POLLER_H

struct file;
struct poll_table_struct;

void iot_poller_get(void);
void iot_poller_put(void);
void iot_poller_exit(void);
void iot_poller_wait(struct file *file, struct poll_table_struct *wait);

#endif /* IOT_POLLER_H */
