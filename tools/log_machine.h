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
 * Prints the events of all drives of a machine that are traced, in order of time, with the drive
 * in each row, or those of a file. Returns an exit code; errors are reported.
 */
int log_machine(const struct log_machine *options);

#endif /* TOOL_LOG_MACHINE_H */
