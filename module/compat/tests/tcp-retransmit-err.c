/* trace_tcp_retransmit_skb(): also for those that fail, with the error; 6.16 */
#include <net/tcp.h>
#include <trace/events/tcp.h>
static void probe(void *data, const struct sock *sk, const struct sk_buff *skb, int err) { }
void iot_test(void) { check_trace_callback_type_tcp_retransmit_skb(probe); }
