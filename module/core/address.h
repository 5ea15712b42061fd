/* SPDX-License-Identifier: GPL-2.0 */
/* One end of a connection. */
#ifndef IOT_ADDRESS_H
#define IOT_ADDRESS_H

#include <asm/byteorder.h>
#include <linux/in6.h>
#include <linux/types.h>

#define IOT_ADDRESS_BITS	128
#define IOT_ADDRESS_V4		96	/* bits before an address of IPv4 */

/**
 * struct iot_address - an address and a port
 * @ip:		of IPv4 ::ffff:a.b.c.d, as in RFC 4291; :: and 0.0.0.0 if there is none
 * @port:	0 if there is none
 */
struct iot_address {
	struct in6_addr ip;
	u16 port;
};

/** iot_address_is_none() - is it the address that stands for none, of IPv6 or IPv4? */
static __always_inline bool iot_address_is_none(const struct in6_addr *ip)
{
	const __be32 *word = ip->s6_addr32;

	return !word[0] && !word[1] && !word[3] && (!word[2] || word[2] == cpu_to_be32(0xffff));
}

#endif /* IOT_ADDRESS_H */
