/* SPDX-License-Identifier: GPL-2.0 */
/* The stubs of sites: enter.S makes them. */
#ifndef IOT_HOOK_STUB_H
#define IOT_HOOK_STUB_H

#define IOT_HOOK_STUBS		512
#define IOT_HOOK_STUB_SIZE	16	/* bytes */

#ifndef __ASSEMBLY__
#include <linux/types.h>

struct iot_hook_site;

extern const char iot_hook_stubs[], iot_hook_passes[];
extern struct iot_hook_site *iot_hook_stubbed[IOT_HOOK_STUBS];
#endif

#endif /* IOT_HOOK_STUB_H */
