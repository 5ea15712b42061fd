/* SPDX-License-Identifier: GPL-2.0 */
/* One line that shows progress, on a terminal only. */
#ifndef TOOL_BASE_PROGRESS_H
#define TOOL_BASE_PROGRESS_H

#include <stdbool.h>

/* Whether any progress is shown: standard error is a terminal, and it was not turned off. */
bool progress_is_wanted(void);

/* Turns progress off: other programs write to the terminal, and the lines would mix. */
void progress_quiet(void);

/* As above if standard output is no file: the lines would mix with rows, or with the output of their reader. */
void progress_beside_output(void);

/* Whether another line is due: standard error is a terminal, and half a second passed. */
bool progress_is_due(void);

/*
 * If a line is due: "fs: 1200000 events, 45 %, 2.10M events/s, 3 s left". @done of @whole are whatever
 * the work goes through, bytes for instance; @whole is 0 if it is not known. The rate is that since this
 * @what was first shown, or came with fewer @done than before.
 */
void progress_of(const char *what, unsigned long long count, const char *unit, unsigned long long done,
		 unsigned long long whole);

void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Erases the line; call it before anything else is printed. */
void progress_end(void);

#endif /* TOOL_BASE_PROGRESS_H */
