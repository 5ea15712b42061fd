// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "base/csv.h"
#include "base/text.h"

#define WIDE 3	/* bytes of a wide form in UTF-8 */

/* Length of the character that begins a formula, 0 for another one. */
static size_t formula(const char *text, size_t length)
{
	static const char wide[][WIDE + 1] = { "＝", "＋", "－", "＠" };
	size_t i;

	if (strchr("=+-@", *text))
		return *text != '\0';
	for (i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (length >= WIDE && !memcmp(text, wide[i], WIDE))
			return WIDE;
	return 0;
}

bool csv_is_plain(const char *text, size_t length)
{
	size_t i;

	if (length && (strchr("=+-@ ", *text) || (unsigned char)*text >= 0x80))
		return false;
	for (i = 0; i < length; i++)
		if (text[i] == ',' || text[i] == '"' || text[i] == ';')
			return false;
	return true;
}

/* A blank or a quote before a formula may be taken away. */
static bool begins(char c, bool begun)
{
	return c == ';' || (begun && (c == ' ' || c == '"' || c == '\''));
}

static char *put_safe(char *out, const char *text, size_t length)
{
	bool first = true;
	size_t i, n;

	for (i = 0; i < length; i += n) {
		n = first ? formula(text + i, length - i) : 0;
		if (n) {
			out = text_octal(out, text + i, n);
			first = false;
			continue;
		}
		first = begins(text[i], first);
		if (text[i] == '"')
			*out++ = '"';
		*out++ = text[i];
		n = 1;
	}
	return out;
}

char *csv_put(char *out, const char *text, size_t length)
{
	bool quotes = memchr(text, ',', length) || memchr(text, '"', length) ||
		      memchr(text, ';', length);

	if (quotes)
		*out++ = '"';
	out = put_safe(out, text, length);
	if (quotes)
		*out++ = '"';
	return out;
}
