/* SPDX-License-Identifier: GPL-2.0 */
/* The signals that ask a program to end, for commands that then delete what they have begun. */
#ifndef TOOL_BASE_INTERRUPT_H
#define TOOL_BASE_INTERRUPT_H

#include <stdbool.h>

/*
 * From now on the first SIGINT, SIGTERM or SIGHUP only sets what interrupt_came() returns, and a
 * file that grows over its limit is an error. Ignored signals stay ignored.
 */
void interrupt_catch(void);

/* Whether such a signal came; @data is not used. */
bool interrupt_came(void *data);

/* Ends as if the signal that came had not been caught. Returns if none came. */
void interrupt_end(void);

#endif /* TOOL_BASE_INTERRUPT_H */
