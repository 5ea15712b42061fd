/* SPDX-License-Identifier: GPL-2.0 */
/* One line that shows progress, on a terminal only. */
#ifndef TOOL_BASE_PROGRESS_H
#define TOOL_BASE_PROGRESS_H

#include <stdbool.h>

/* Whether any progress is shown: standard error is a terminal, and it was not turned off. */
bool progress_is_wanted(void);

/* Turns progress off: other programs write to the terminal, and the lines would mix. */
void progress_quiet(void);

/* Whether another line is due: standard error is a terminal, and half a second passed. */
bool progress_is_due(void);

void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Erases the line; call it before anything else is printed. */
void progress_end(void);

#endif /* TOOL_BASE_PROGRESS_H */
