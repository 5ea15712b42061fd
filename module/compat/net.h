/* SPDX-License-Identifier: GPL-2.0 */
/* Differences between kernels in the network; see compat.h. */
#ifndef IOT_COMPAT_NET_H
#define IOT_COMPAT_NET_H

#include <linux/rcupdate.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/dropreason.h>
#include <net/tcp.h>
#include <trace/events/skb.h>
#include <trace/events/tcp.h>
#include "compat/config.h"

/*
 * Define the probe @name of the tracepoint of packets that are dropped. It passes the packet, where
 * it was dropped, the reason, and the socket that was to receive it, if the kernel says so.
 */
#if defined(IOT_HAVE_KFREE_SKB_RX_SK_CONST)
#define iot_net_dropped(name, dropped)							\
static void name(void *data, struct sk_buff *skb, void *location,			\
		 enum skb_drop_reason reason, const struct sock *rx_sk)			\
{											\
	dropped(skb, (unsigned long)location, reason, rx_sk);				\
}
#elif defined(IOT_HAVE_KFREE_SKB_RX_SK)
#define iot_net_dropped(name, dropped)							\
static void name(void *data, struct sk_buff *skb, void *location,			\
		 enum skb_drop_reason reason, struct sock *rx_sk)			\
{											\
	dropped(skb, (unsigned long)location, reason, rx_sk);				\
}
#else
#define iot_net_dropped(name, dropped)							\
static void name(void *data, struct sk_buff *skb, void *location,			\
		 enum skb_drop_reason reason)						\
{											\
	dropped(skb, (unsigned long)location, reason, NULL);				\
}
#endif

/* Was the packet of this reason used, not dropped? */
static __always_inline bool iot_skb_is_consumed(unsigned int reason)
{
#ifdef IOT_HAVE_SKB_CONSUMED
	return reason == SKB_CONSUMED || reason == SKB_NOT_DROPPED_YET;
#else
	return reason == SKB_NOT_DROPPED_YET;
#endif
}

/* The kernel's name of a reason, or NULL if it has none. Context: any, preemption off (RCU). */
static inline const char *iot_drop_reason_name(unsigned int reason)
{
#ifdef IOT_HAVE_DROP_REASONS_BY_SUBSYS
	unsigned int subsys = reason >> SKB_DROP_REASON_SUBSYS_SHIFT;
	const struct drop_reason_list *list;

	if (subsys >= SKB_DROP_REASON_SUBSYS_NUM)
		return NULL;
	list = rcu_dereference_sched(drop_reasons_by_subsys[subsys]);
	reason &= ~SKB_DROP_REASON_SUBSYS_MASK;
	return list && reason < list->n_reasons ? list->reasons[reason] : NULL;
#else
	return reason < SKB_DROP_REASON_MAX ? drop_reasons[reason] : NULL;
#endif
}

/*
 * Define the probe @name of the tracepoint of resets that are sent. It passes the socket and the
 * packet that is answered, either of which may be NULL, and the reason, 0 if the kernel has none.
 * Kernels without reasons have the tracepoint only for resets of a socket.
 */
#ifdef IOT_HAVE_TCP_RESET_REASON
#define IOT_RESET_POINT_HAS_ALL	true
#define iot_net_reset_sent(name, sent)							\
static void name(void *data, const struct sock *sk, const struct sk_buff *skb,		\
		 const enum sk_rst_reason reason)					\
{											\
	sent(sk, skb, reason);								\
}
#else
#define IOT_RESET_POINT_HAS_ALL	false
#define iot_net_reset_sent(name, sent)							\
static void name(void *data, const struct sock *sk, const struct sk_buff *skb)		\
{											\
	sent(sk, skb, 0);								\
}
#endif

/* The kernel's name of the reason of a reset, or NULL if it has none. */
static inline const char *iot_reset_reason_name(unsigned int reason)
{
#ifdef IOT_HAVE_TCP_RESET_REASON
#define IOT_RESET_NAME(reason)	{ SK_RST_REASON_##reason, #reason },
	static const struct {
		unsigned int reason;
		const char *name;
	} names[] = {
		DEFINE_RST_REASON(IOT_RESET_NAME, IOT_RESET_NAME)
	};
#undef IOT_RESET_NAME
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].reason == reason)
			return names[i].name;
	return NULL;
#else
	return NULL;
#endif
}

/*
 * Define the probe @name of the tracepoint of segments that are sent again. Where the kernel has it
 * for those that could not be sent, too, they are left out: the others do not have them.
 */
#ifdef IOT_HAVE_TCP_RETRANSMIT_ERR
#define iot_net_resent(name, resent)							\
static void name(void *data, const struct sock *sk, const struct sk_buff *skb, int err)	\
{											\
	if (!err)									\
		resent(sk, skb);							\
}
#else
#define iot_net_resent(name, resent)							\
static void name(void *data, const struct sock *sk, const struct sk_buff *skb)		\
{											\
	resent(sk, skb);								\
}
#endif

#endif /* IOT_COMPAT_NET_H */
