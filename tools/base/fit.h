/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Texts that text_show() has made, in columns of a terminal: by the widths that its locale gives the
 * characters, and without a torn character or \ooo. A character that the locale does not have is
 * shown as "?". Call setlocale() first.
 */
#ifndef TOOL_BASE_FIT_H
#define TOOL_BASE_FIT_H

#include <stddef.h>

#define FIT_ALL (~(size_t)0)

/* Columns that the text takes. */
size_t fit_width(const char *text);

/* Each prints the text in @most columns at most, and returns how many it took. */
size_t fit_print_start(const char *text, size_t most);	/* "long na" */
size_t fit_print_end(const char *text, size_t most);	/* "...of/a/path" */

#endif /* TOOL_BASE_FIT_H */
