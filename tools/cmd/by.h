/* SPDX-License-Identifier: GPL-2.0 */
/* The option --by: the keys of rows, for commands that make a pass over a trace. */
#ifndef TOOL_CMD_BY_H
#define TOOL_CMD_BY_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "cmd/pass.h"
#include "trace/stats_key.h"

#define BY_KEYS 2	/* most keys of the option */

/* What help says of the keys, behind the default. */
#define BY_HELP \
	"op, class (the purpose of a request's data), device, file, directory, directory:DEPTH (its first DEPTH components), extension, process, command, submitter, cgroup, connection, or of a merged trace host or trace"

/* Adds the keys of an argument of --by; reports with cli_usage(). */
void by_take(struct argp_state *state, struct stats_keys *keys, const char *arg);

/*
 * Opens the keys for a category of the pass. *has: its events have them; close them then. That they do
 * not is reported, and is a mistake if the category was named. Returns an exit code.
 */
int by_open(struct stats_keys *keys, const struct pass *pass, size_t i, bool *has);

#endif /* TOOL_CMD_BY_H */
