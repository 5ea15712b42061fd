/* SPDX-License-Identifier: GPL-2.0 */
/* Options and line formatting that the logs of a VM share. */
#ifndef TOOL_VM_LOG_ROW_H
#define TOOL_VM_LOG_ROW_H

#include <stdbool.h>
#include <linux/types.h>

#include "base/cli.h"

#define LOG_LOOK_BACK 4096	/* events between a call and its bio, at most */

/*
 * With --follow, events wait for this time before they are printed: a call is recorded when it
 * ends, after its bios, and began before them.
 */
#define LOG_HOLD_NS 500000000ULL

#define LOG_LOOK_NS 1000000000ULL	/* least time between two looks at an image, or at a VM */

/* Options of the command line. */
struct log_options {
	const char *vm;		/* name or PID of a VM; NULL: print @file */
	const char *file;
	const char *image_format;	/* of the file; NULL: detected */
	enum cli_format format;	/* text, csv or json */
	bool no_header;
	bool guest;		/* translate to the guest's disk; always for @file */
	bool follow;		/* print events as they happen, until a signal or the end of the target */
};

struct guest_part;
struct iot_line;

/* Prints a field of a text line. Semicolons, which end fields, are escaped as in the module's logs. */
void log_print(const char *shown);

/*
 * Prints the seven fields with which a line begins, as the module does. @since: ns since T0. @comm: as a
 * record has it.
 */
void log_print_line(const struct iot_line *line, __u64 since, const char *comm, __u32 pid);

/* Prints the fields of a part; "-" for missing values. */
void log_print_part(const struct guest_part *part);

#endif /* TOOL_VM_LOG_ROW_H */
