// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>

#include "base/bar.h"
#include "base/terminal.h"

#define EIGHTHS	8
#define BLOCK	3	/* bytes of a block in UTF-8 */

/* @part * @steps / @all, rounded to the nearest; not 0 if @part is not. */
static unsigned int length_of(__u64 part, __u64 all, unsigned int steps)
{
	unsigned int length;

	if (!part || !all)
		return 0;
	if (part >= all)
		return steps;
	length = ((__uint128_t)part * steps * 2 + all) / ((__uint128_t)all * 2);
	return length ? length : 1;
}

static char *put_block(char *out, unsigned int eighths)
{
	/* U+2588 is the whole block, U+2589 seven eighths of it, U+258F one. */
	out[0] = '\xe2';
	out[1] = '\x96';
	out[2] = (char)(0x90 - eighths);
	return out + BLOCK;
}

char *bar(char *out, __u64 part, __u64 all, unsigned int width, unsigned int *columns)
{
	unsigned int unit = terminal_is_utf8() ? EIGHTHS : 1, length, rest;
	char *at = out;

	if (width > BAR_WIDTH)
		width = BAR_WIDTH;
	length = length_of(part, all, width * unit);
	for (rest = length; rest >= unit; rest -= unit)
		if (unit == 1)
			*at++ = '#';
		else
			at = put_block(at, EIGHTHS);
	if (rest)
		at = put_block(at, rest);
	*at = '\0';
	if (columns)
		*columns = (length + unit - 1) / unit;
	return out;
}

char *bar_spark(char *out, const __u64 *values, unsigned int nr)
{
	static const char plain[EIGHTHS + 1] = " _.:-=+*#";
	const bool utf8 = terminal_is_utf8();
	unsigned int i, height;
	char *at = out;
	__u64 most = 0;

	for (i = 0; i < nr; i++)
		most = values[i] > most ? values[i] : most;
	for (i = 0; i < nr; i++) {
		height = length_of(values[i], most, EIGHTHS);
		if (!utf8 || !height) {
			*at++ = plain[height];
			continue;
		}
		/* U+2581 is one eighth, U+2588 the whole block. */
		at[0] = '\xe2';
		at[1] = '\x96';
		at[2] = (char)(0x80 + height);
		at += BLOCK;
	}
	*at = '\0';
	return out;
}
