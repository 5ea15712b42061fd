/* SPDX-License-Identifier: GPL-2.0 */
/* Which characters may reach a terminal. Shared by the module and the tool. */
#ifndef IOT_PRINTABLE_H
#define IOT_PRINTABLE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stddef.h>
#endif

/*
 * Length in bytes of the UTF-8 sequence that begins with @c, 0 if none does. @least is set to
 * the smallest character that needs this length.
 */
static inline size_t iot_utf8_length(unsigned int c, unsigned int *least)
{
	if (c >= 0xc2 && c < 0xe0) {
		*least = 0x80;
		return 2;
	}
	if (c >= 0xe0 && c < 0xf0) {
		*least = 0x800;
		return 3;
	}
	*least = 0x10000;
	return c >= 0xf0 && c < 0xf5 ? 4 : 0;
}

/**
 * iot_printable() - get the length of the printable character at the start of a text
 * @s:		the text, at least one byte
 * @len:	length of the text in bytes
 *
 * Return: length in bytes, or 0 for a control character (below 0x20, DEL, or U+0080 to U+009F,
 * which control terminals as ESC does), for the separators of lines and paragraphs (U+2028,
 * U+2029), at which some programs end a line, and for what is not UTF-8: truncated, overlong,
 * a surrogate, above U+10FFFF, or a stray byte.
 */
static inline size_t iot_printable(const unsigned char *s, size_t len)
{
	unsigned int least, c = s[0];
	size_t n, i;

	if (c < 0x80)
		return c >= 0x20 && c != 0x7f;
	n = iot_utf8_length(c, &least);
	if (!n || n > len)
		return 0;
	c &= 0x7f >> n;
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least || c < 0xa0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ||
	    c == 0x2028 || c == 0x2029)
		return 0;
	return n;
}

#endif /* IOT_PRINTABLE_H */
