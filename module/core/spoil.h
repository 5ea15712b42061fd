/* SPDX-License-Identifier: GPL-2.0 */
/* Makes a field wrong in all records of an event, for scripts/check-fields. See spoil.c. */
#ifndef IOT_SPOIL_H
#define IOT_SPOIL_H

#include <linux/types.h>

#ifdef IOT_SPOIL
void iot_spoil(unsigned int event, u64 *slot);
#else
static __always_inline void iot_spoil(unsigned int event, u64 *slot)
{
}
#endif

#endif /* IOT_SPOIL_H */
