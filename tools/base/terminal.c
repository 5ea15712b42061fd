// SPDX-License-Identifier: GPL-2.0
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/terminal.h"

#define COLUMNS_MOST 1000	/* no terminal has more; a larger number is a mistake */

/* The program's own locale stays as it is. */
bool terminal_is_utf8(void)
{
	static int known = -1;
	locale_t locale;

	if (known >= 0)
		return known;
	locale = newlocale(LC_CTYPE_MASK, "", NULL);
	known = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
	if (locale)
		freelocale(locale);
	return known;
}

unsigned int terminal_columns(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size = { .ws_col = 0 };
	unsigned long n = columns ? strtoul(columns, NULL, 10) : 0;

	if (!isatty(STDOUT_FILENO))
		return TERMINAL_COLUMNS;
	if (!n && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		n = size.ws_col;
	return n < TERMINAL_COLUMNS || n > COLUMNS_MOST ? TERMINAL_COLUMNS : n;
}

bool terminal_has_palette(void)
{
	const char *term = getenv("TERM"), *color = getenv("COLORTERM");

	return cli_has_color() && ((term && strstr(term, "256color")) || (color && *color));
}
