/* SPDX-License-Identifier: GPL-2.0 */
/* Adds targets, and reports why one cannot be added. */
#ifndef TOOL_MODULE_ADDING_H
#define TOOL_MODULE_ADDING_H

#define ADDING_EVENTS	"4096"	/* kept of a file if no number is given */

/* The number for a file if none is given; NULL if the module's own default is larger. */
const char *adding_default_events(void);

/*
 * Add a file, or processes by their text. @fd: control, open for writing; @max_events: digits, or
 * NULL for the module's default; @options: "-i -a ", each with a blank behind it. Return an exit
 * code; errors are reported.
 */
int adding_file(int fd, const char *file, const char *max_events, const char *options);
int adding_tasks(int fd, const char *text, const char *max_events, const char *options);

#endif /* TOOL_MODULE_ADDING_H */
