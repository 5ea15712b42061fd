/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace as a database of sqlite: a table for each category, as iotracer sql has it, and _trace. The
 * file has its name when it is complete.
 */
#ifndef TOOL_CMD_EXPORT_SQLITE_H
#define TOOL_CMD_EXPORT_SQLITE_H

#include "cmd/pass.h"

/* The pass is open; @file must not exist. Returns an exit code; errors are reported. */
int export_sqlite(struct pass *pass, const char *file);

#endif /* TOOL_CMD_EXPORT_SQLITE_H */
