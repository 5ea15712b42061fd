/* page faults that hold only the lock of one VMA (CONFIG_PER_VMA_LOCK), 6.4 */
#include <linux/mm_types.h>
unsigned int iot_test(void)
{
	return FAULT_FLAG_VMA_LOCK;
}
