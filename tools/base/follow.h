/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What commands that print events as they happen have in common: Ctrl-C, kill and a closed pipe end
 * them, and are no errors.
 */
#ifndef TOOL_BASE_FOLLOW_H
#define TOOL_BASE_FOLLOW_H

#include <stdbool.h>

#define FOLLOW_BATCH 65536	/* records to read before they are printed */

/*
 * From now on SIGINT, SIGTERM and SIGHUP only set what follow_interrupted() returns. After one of
 * them, read what was recorded before it, in a bounded amount, as new events may come for ever. A
 * SIGHUP that is ignored stays so (nohup).
 */
void follow_prepare(void);
bool follow_interrupted(void);

/* False if stdout has no reader any more, or a write failed (cli_close_stdout() reports that). */
bool follow_flush(void);

/* Waits until the next read is due, or for a signal; false if nobody reads stdout any more. */
bool follow_wait(void);

#endif /* TOOL_BASE_FOLLOW_H */
