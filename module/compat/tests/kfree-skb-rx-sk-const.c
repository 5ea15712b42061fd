/* trace_kfree_skb(): the receiving socket is const; between 6.12 and 7.3 */
#include <linux/skbuff.h>
#include <trace/events/skb.h>
static void probe(void *data, struct sk_buff *skb, void *location, enum skb_drop_reason reason,
		  const struct sock *rx_sk) { }
void iot_test(void) { check_trace_callback_type_kfree_skb(probe); }
