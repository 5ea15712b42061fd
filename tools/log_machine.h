/* SPDX-License-Identifier: GPL-2.0 */
/* The logs of all files of a virtual machine as one; of these and of one file in the guest's terms. */
#ifndef TOOL_LOG_MACHINE_H
#define TOOL_LOG_MACHINE_H

#include <stdbool.h>

#include "cli.h"

struct log_machine {
	const char *vm;		/* name or PID of a machine; NULL: it is @file */
	const char *file;
	const char *image_format;	/* of the file; NULL: found out */
	enum cli_format format;	/* text, csv or json */
	bool no_header;
	bool guest;		/* what each event is to the guest; @file is only for this */
};

/*
 * Prints the events of a machine, of its processes or of its files that are traced, in order of
 * time, with the drive in each row, or those of a file. Returns an exit code; errors are reported.
 */
int log_machine(const struct log_machine *options);

struct guest_part;

/* For a line of text. What is shown has no semicolon, as in a log of the module: it ends a field. */
void log_machine_print(const char *shown);

/* The part of the file, and what it is; "-" for what there is none of. */
void log_machine_print_part(const struct guest_part *part);

#endif /* TOOL_LOG_MACHINE_H */
