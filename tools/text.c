// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <string.h>

#include "cli.h"
#include "text.h"

/*
 * Length of the UTF-8 sequence at @s, 0 where there is none: cut short,
 * overlong, a surrogate, beyond U+10FFFF or an ASCII or C1 control character.
 */
static size_t printable(const unsigned char *s, size_t len)
{
	static const unsigned long least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned long c = s[0];
	size_t n, i;

	if (c < 0x80)
		return c >= 0x20 && c != 0x7f;
	if (c >= 0xc2 && c < 0xe0)
		n = 2;
	else if (c >= 0xe0 && c < 0xf0)
		n = 3;
	else if (c >= 0xf0 && c < 0xf5)
		n = 4;
	else
		return 0;
	if (n > len)
		return 0;
	c &= 0x7f >> n;
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c < 0xa0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	return n;
}

static char *octal(char *out, unsigned char byte)
{
	*out++ = '\\';
	*out++ = '0' + (byte >> 6);
	*out++ = '0' + (byte >> 3 & 7);
	*out++ = '0' + (byte & 7);
	return out;
}

size_t text_show_to(char *out, const char *bytes, size_t len)
{
	const unsigned char *s = (const unsigned char *)bytes;
	char *start = out;

	while (len) {
		size_t n = *s == '\\' ? 0 : printable(s, len);

		if (n) {
			out = mempcpy(out, s, n);
		} else {
			out = octal(out, *s);
			n = 1;
		}
		s += n;
		len -= n;
	}
	*out = '\0';
	return out - start;
}

char *text_show(const char *bytes, size_t len)
{
	char *out = cli_grow(NULL, len + 1, 4);

	text_show_to(out, bytes, len);
	return out;
}

char *text_escape(const char *path)
{
	char *escaped = cli_grow(NULL, strlen(path) + 1, 4);
	char *out = escaped;

	for (; *path; path++) {
		unsigned char c = *path;

		if (c <= ' ' || c == 0x7f || c == '\\')
			out = octal(out, c);
		else
			*out++ = c;
	}
	*out = '\0';
	return escaped;
}

static bool is_octal(const char *s)
{
	return s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' &&
	       s[2] >= '0' && s[2] <= '7';
}

void text_unescape(char *s)
{
	char *out = s;

	while (*s) {
		if (*s == '\\' && is_octal(s + 1)) {
			*out++ = (s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0');
			s += 4;
		} else {
			*out++ = *s++;
		}
	}
	*out = '\0';
}
