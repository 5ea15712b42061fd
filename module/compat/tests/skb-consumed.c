/* net: SKB_CONSUMED is a reason for kfree_skb_reason(); 6.2 */
#include <net/dropreason.h>
int iot_test(void) { return SKB_CONSUMED; }
