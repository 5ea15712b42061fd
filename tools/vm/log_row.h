/* SPDX-License-Identifier: GPL-2.0 */
/* What the logs of a virtual machine have in common: the options, and parts of a line. */
#ifndef TOOL_VM_LOG_ROW_H
#define TOOL_VM_LOG_ROW_H

#include <stdbool.h>

#include "base/cli.h"

/* Options of the command line. */
struct log_machine {
	const char *vm;		/* name or PID of a machine; NULL: it is @file */
	const char *file;
	const char *image_format;	/* of the file; NULL: found out */
	enum cli_format format;	/* text, csv or json */
	bool no_header;
	bool guest;		/* what each event is to the guest; @file is only for this */
};

struct guest_part;

/* For a line of text. What is shown has no semicolon, as in a log of the module: it ends a field. */
void log_machine_print(const char *shown);

/* The part of the file, and what it is; "-" for what there is none of. */
void log_machine_print_part(const struct guest_part *part);

#endif /* TOOL_VM_LOG_ROW_H */
