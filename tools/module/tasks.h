/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes and services as targets: the options that name them, and the texts by which the
 * module knows them, "pid=1234", "tree=1234", "comm=NAME" and "cgroup=PATH".
 */
#ifndef TOOL_MODULE_TASKS_H
#define TOOL_MODULE_TASKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/option.h"

struct target_list;

enum tasks_kind { TASKS_PID, TASKS_COMM, TASKS_CGROUP, TASKS_UNIT, TASKS_CONTAINER };

struct tasks_named {
	enum tasks_kind kind;
	char *value;
	char *text;		/* for the module; NULL: it could not be found */
};

struct tasks {
	struct tasks_named *at;	/* as given */
	size_t nr;
	bool follow;
};

/* The options that fill a struct tasks in. */
extern const struct option_group tasks_options;

/*
 * Finds the texts. Units and containers are looked for among what is traced if @traced is not
 * NULL, as those that have ended are there, too. Returns an exit code; errors are reported.
 */
int tasks_resolve(struct tasks *tasks, const struct target_list *traced);
void tasks_free(struct tasks *tasks);

#endif /* TOOL_MODULE_TASKS_H */
