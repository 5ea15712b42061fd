// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/fit.h"

#define DOTS "..."

/* What cannot be torn: a character, or \ooo. */
struct unit {
	size_t bytes;
	size_t columns;		/* 0: it belongs to the character before it */
	bool known;		/* to the locale */
};

static bool is_escape(const char *s)
{
	return s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
	       s[3] >= '0' && s[3] <= '7';
}

/* Bytes of the character of UTF-8, which text_show() has checked. */
static size_t length_of(const char *s)
{
	size_t n = 1;

	while ((s[n] & 0xc0) == 0x80)
		n++;
	return n;
}

static struct unit unit_at(const char *s)
{
	mbstate_t state = { 0 };
	struct unit unit = { .bytes = length_of(s), .columns = 1, .known = true };
	wchar_t c;
	int columns;

	if (is_escape(s))
		return (struct unit){ .bytes = 4, .columns = 4, .known = true };
	if (!(*s & 0x80))
		return unit;
	unit.known = mbrtowc(&c, s, unit.bytes, &state) == unit.bytes;
	columns = unit.known ? wcwidth(c) : 1;
	/* what has no width may be anything */
	if (columns < 0)
		unit.known = false;
	else
		unit.columns = columns;
	return unit;
}

size_t fit_width(const char *text)
{
	size_t width = 0;

	while (*text) {
		struct unit unit = unit_at(text);

		width += unit.columns;
		text += unit.bytes;
	}
	return width;
}

size_t fit_print_start(const char *text, size_t most)
{
	size_t used = 0;

	while (*text) {
		struct unit unit = unit_at(text);

		if (unit.columns > most - used)
			break;
		if (unit.known)
			fwrite(text, 1, unit.bytes, stdout);
		else
			putchar('?');
		used += unit.columns;
		text += unit.bytes;
	}
	return used;
}

size_t fit_print_end(const char *text, size_t most)
{
	size_t width = fit_width(text), dots = most < strlen(DOTS) ? most : strlen(DOTS);

	if (width <= most)
		return fit_print_start(text, most);
	while (*text) {
		struct unit unit = unit_at(text);

		if (width <= most - dots && unit.columns)
			break;
		width -= unit.columns;
		text += unit.bytes;
	}
	printf("%.*s", (int)dots, DOTS);
	return dots + fit_print_start(text, most - dots);
}
