/* SPDX-License-Identifier: GPL-2.0 */
/* Options and line formatting that the logs of a VM share. */
#ifndef TOOL_VM_LOG_ROW_H
#define TOOL_VM_LOG_ROW_H

#include <stdbool.h>

#include "base/cli.h"

/* Options of the command line. */
struct log_options {
	const char *vm;		/* name or PID of a VM; NULL: print @file */
	const char *file;
	const char *image_format;	/* of the file; NULL: detected */
	enum cli_format format;	/* text, csv or json */
	bool no_header;
	bool guest;		/* translate to the guest's disk; always for @file */
};

struct guest_part;

/* Prints a field of a text line. Semicolons, which end fields, are escaped as in the module's logs. */
void log_print(const char *shown);

/* Prints the fields of a part; "-" for missing values. */
void log_print_part(const struct guest_part *part);

#endif /* TOOL_VM_LOG_ROW_H */
