// SPDX-License-Identifier: GPL-2.0
/* Names that processes choose, as text for people and their terminals. */
#include <linux/seq_file.h>
#include <linux/string.h>
#include "core/escape.h"
#include "core/printable.h"

/* Bytes at the begin of a text that are shown as they are. */
static size_t plain_length(const char *text, size_t len, const char *also)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n, at = 0;

	while (at < len && s[at] != '\\' && !strchr(also, s[at])) {
		n = iot_printable(s + at, len - at);
		if (!n)
			break;
		at += n;
	}
	return at;
}

/**
 * iot_escape() - print a name so that it forges nothing and commands no terminal
 * @m:		where to
 * @text:	bytes of any kind
 * @size:	how many at most, with or without a NUL
 * @also:	characters of ASCII to escape: what separates the names from each other
 *
 * Readable UTF-8 stays. Control characters, bytes that are not UTF-8, backslash and
 * @also become \ooo, which iot_path_unescape() undoes. Context: any.
 */
void iot_escape(struct seq_file *m, const char *text, size_t size, const char *also)
{
	size_t len = strnlen(text, size);

	while (len) {
		size_t n = plain_length(text, len, also);

		if (n) {
			seq_write(m, text, n);
		} else {
			seq_printf(m, "\\%03o", (unsigned char)*text);
			n = 1;
		}
		text += n;
		len -= n;
	}
}
