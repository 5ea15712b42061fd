/* SPDX-License-Identifier: GPL-2.0 */
/* The stubs of sites, which site_asm.S defines. */
#ifndef IOT_HOOK_STUB_H
#define IOT_HOOK_STUB_H

#define IOT_STUBS		512
#define IOT_STUB_SIZE	16	/* bytes */

#ifndef __ASSEMBLY__
#include <linux/types.h>

struct iot_site;

extern const char iot_stubs[], iot_stub_passes[];
extern struct iot_site *iot_stub_sites[IOT_STUBS];
#endif

#endif /* IOT_HOOK_STUB_H */
