/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The option --output of commands that can show their figures as a picture instead of text.
 *
 *	command_parse(...);			// its .check calls picture_check()
 *	status = picture_open(&picture, env.output);
 *	...					// for each category: adds to picture.svg, unless output is NULL
 *	status = picture_finish(&picture, status, "latency", env.pass.trace);
 */
#ifndef TOOL_CMD_PICTURE_H
#define TOOL_CMD_PICTURE_H

#include "base/cli.h"
#include "base/new_file.h"
#include "base/option.h"
#include "picture/svg.h"

struct picture {
	struct new_file file;
	struct svg svg;
	bool open;
};

/* The row of a command's table. */
#define PICTURE_OPTION(env, member) \
	{ "output", 'o', "FILE", \
	  "write a picture to FILE, which ends in .svg and is replaced, instead of text; - for standard output", \
	  TO_TEXT(env, member), .values = VALUES_FILE }

/* Refuses another ending than .svg, and a --format. @output: NULL if it was not given. */
void picture_check(struct argp_state *state, const char *output, const struct option_parser *given);

/* Nothing if @output is NULL. Returns an exit code; errors are reported. Call picture_finish() in either case. */
int picture_open(struct picture *p, const char *output);

/*
 * Writes the picture if it has anything, whether the trace was whole or not, and frees all. @subject and
 * @source: what it shows, and of which trace or file. Returns the command's exit code.
 */
int picture_finish(struct picture *p, int status, const char *subject, const char *source);

#endif /* TOOL_CMD_PICTURE_H */
