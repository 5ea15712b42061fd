/* net: lists of drop reasons by subsystem; 6.4 */
#include <net/dropreason.h>
const void *iot_test(void) { return drop_reasons_by_subsys[0]; }
