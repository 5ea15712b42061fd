/* SPDX-License-Identifier: GPL-2.0 */
/* One line on a terminal that tells how far things are; nothing elsewhere. */
#ifndef TOOL_PROGRESS_H
#define TOOL_PROGRESS_H

#include <stdbool.h>

/* Others write to the terminal: a line of ours would run into theirs. */
void progress_quiet(void);

/* Whether it is time for another line: standard error is a terminal, half a second passed. */
bool progress_is_due(void);

void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Removes the line, before anything else is said. */
void progress_end(void);

#endif /* TOOL_PROGRESS_H */
