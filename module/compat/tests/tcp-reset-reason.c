/* trace_tcp_send_reset(): for resets without a socket, too, and with a reason; 6.10 */
#include <net/tcp.h>
#include <trace/events/tcp.h>
static void probe(void *data, const struct sock *sk, const struct sk_buff *skb,
		  const enum sk_rst_reason reason) { }
void iot_test(void) { check_trace_callback_type_tcp_send_reset(probe); }
