// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "core/printable.h"

static char *octal(char *out, unsigned char byte)
{
	*out++ = '\\';
	*out++ = '0' + (byte >> 6);
	*out++ = '0' + (byte >> 3 & 7);
	*out++ = '0' + (byte & 7);
	return out;
}

char *text_octal(char *out, const char *bytes, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		out = octal(out, bytes[i]);
	return out;
}

/* Characters in @hide become octal, and so do unprintable ones that are not in @keep. */
static size_t show_to(char *out, const char *bytes, size_t len, const char *keep,
		      const char *hide)
{
	const unsigned char *s = (const unsigned char *)bytes;
	char *start = out;

	while (len) {
		size_t n = iot_printable(s, len);

		if (*s && strchr(keep, *s))
			n = 1;
		else if (*s && strchr(hide, *s))
			n = 0;

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

size_t text_show_to(char *out, const char *bytes, size_t len)
{
	return show_to(out, bytes, len, "", "\\");
}

char *text_guard(const char *bytes, size_t len, const char *keep)
{
	char *out = xreallocarray(NULL, len + 1, 4);

	if (out)
		show_to(out, bytes, len, keep, "");
	return out;
}

char *text_show(const char *bytes, size_t len)
{
	char *out = xreallocarray(NULL, len + 1, 4);

	if (out)
		text_show_to(out, bytes, len);
	return out;
}

char *text_escape(const char *path)
{
	char *escaped = xreallocarray(NULL, strlen(path) + 1, 4);
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

char *text_share(__u64 part, __u64 all)
{
	double percent = all ? 100.0 * part / all : 0;

	if (part && percent < 0.01)
		return xstrdup("less than 0.01 %");
	if (part < all && percent > 99.99)
		return xstrdup("more than 99.99 %");
	return xasprintf("%.2f %%", percent);
}

char *text_append(char *list, const char *between, const char *word)
{
	char *longer = list && *list ? xasprintf("%s%s%s", list, between, word) : xstrdup(word);

	free(list);
	return longer;
}

/* Characters: a byte of 10xxxxxx continues one. */
size_t text_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

const char *text_end(const char *text, size_t most)
{
	size_t width = text_width(text);

	for (; width > most && *text; text++)
		width -= (text[1] & 0xc0) != 0x80;
	return text;
}

/* Bytes of the character if it is to be masked; else 0. */
static size_t masked(const unsigned char *c)
{
	if (c[0] == 0xe2 && c[1] == 0x80 && ((c[2] >= 0x8b && c[2] <= 0x8f) || (c[2] >= 0xa8 && c[2] <= 0xae)))
		return 3;	/* U+200B to U+200F, U+2028 to U+202E */
	if (c[0] == 0xe2 && c[1] == 0x81 && c[2] >= 0xa0 && c[2] <= 0xaf)
		return 3;	/* U+2060 to U+206F */
	if (c[0] == 0xef && c[1] == 0xbb && c[2] == 0xbf)
		return 3;	/* U+FEFF */
	return c[0] == 0xd8 && c[1] == 0x9c ? 2 : 0;	/* U+061C */
}

char *text_mask(char *text)
{
	const char *from = text;
	char *to = text;
	size_t bytes;

	while (*from) {
		bytes = masked((const unsigned char *)from);
		*to++ = bytes ? '?' : *from;
		from += bytes ? bytes : 1;
	}
	*to = '\0';
	return text;
}

char *text_shorten(const char *text, size_t columns)
{
	char *copy = text_mask(xstrdup(text)), *end;

	if (text_width(copy) <= columns)
		return copy;
	end = xasprintf("...%s", text_end(copy, columns > 3 ? columns - 3 : 0));
	free(copy);
	return end;
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
