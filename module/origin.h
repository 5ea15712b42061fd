/* SPDX-License-Identifier: GPL-2.0 */
/* Who made a page of a file dirty: for what is written back long after. */
#ifndef IOT_ORIGIN_H
#define IOT_ORIGIN_H

#include <linux/types.h>

struct address_space;

int iot_origin_init(void);
void iot_origin_exit(void);

int iot_origin_attach(void);
void iot_origin_detach(void);

u32 iot_origin_find(const struct address_space *mapping, unsigned long index,
		    char comm[16]);

#endif /* IOT_ORIGIN_H */
