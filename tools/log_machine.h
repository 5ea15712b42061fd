/* SPDX-License-Identifier: GPL-2.0 */
/* The logs of all files of a virtual machine as one, with the drive in each row. */
#ifndef TOOL_LOG_MACHINE_H
#define TOOL_LOG_MACHINE_H

#include <stdbool.h>

#include "cli.h"

/*
 * Prints the events of all drives of a machine that are traced, in order of time. @name: its name
 * or PID; @format: text, csv or json. Returns an exit code; errors are reported.
 */
int log_machine(const char *name, enum cli_format format, bool no_header);

#endif /* TOOL_LOG_MACHINE_H */
