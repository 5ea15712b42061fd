/* SPDX-License-Identifier: GPL-2.0 */
/* Data that is taken from a socket of TCP without a receive. */
#ifndef IOT_NET_TAKE_H
#define IOT_NET_TAKE_H

int iot_net_take_start(void);
void iot_net_take_stop(void);
unsigned long iot_net_take_missed(void);

#endif /* IOT_NET_TAKE_H */
