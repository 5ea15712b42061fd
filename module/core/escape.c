// SPDX-License-Identifier: GPL-2.0
/* Prints names that processes choose so that they are safe to show on a terminal. */
#include <linux/seq_file.h>
#include <linux/string.h>
#include "core/escape.h"
#include "core/printable.h"

/* Number of bytes at the start of @text that need no escape. */
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
 * iot_escape() - print a name that can neither forge output nor control a terminal
 * @m:		where to print it
 * @text:	bytes of any kind
 * @size:	maximum number of bytes, with or without a NUL
 * @also:	ASCII characters to escape: those that separate names from each other
 *
 * Printable UTF-8 stays. Control characters, bytes that are not UTF-8, backslashes and the
 * characters of @also become \ooo, which iot_path_unescape() undoes. Context: any.
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
