/* SPDX-License-Identifier: GPL-2.0 */
/* MSG_ZEROCOPY: the number of a send, and the notification that its buffers are free. */
#ifndef IOT_NET_ZEROCOPY_H
#define IOT_NET_ZEROCOPY_H

#include <linux/types.h>

struct sock;

bool iot_net_zerocopy_number(const struct sock *sk, u64 start, u32 *number);

int iot_net_zerocopy_start(void);
void iot_net_zerocopy_stop(void);
unsigned long iot_net_zerocopy_missed(void);

#endif /* IOT_NET_ZEROCOPY_H */
