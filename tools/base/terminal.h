/* SPDX-License-Identifier: GPL-2.0 */
/* What the user's terminal can show: the one place where that is decided. */
#ifndef TOOL_BASE_TERMINAL_H
#define TOOL_BASE_TERMINAL_H

#include <stdbool.h>

#define TERMINAL_COLUMNS 80	/* of a page: of what is no terminal, and the least that is used */

/* Whether the character set of the user's locale is UTF-8. */
bool terminal_is_utf8(void);

/*
 * Columns for text on standard output: TERMINAL_COLUMNS at least, and as many as a wider terminal has.
 * COLUMNS of the environment counts more, but only for a terminal too.
 */
unsigned int terminal_columns(void);

/* Whether text on standard output may have the 256 colours of xterm. */
bool terminal_has_palette(void);

#endif /* TOOL_BASE_TERMINAL_H */
