/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes and services as targets: the texts by which the module knows them, "pid=1234",
 * "tree=1234", "comm=NAME" and "cgroup=PATH".
 */
#ifndef TOOL_TASKS_H
#define TOOL_TASKS_H

#include <stdbool.h>

/* Whether the module takes the text for processes, not for a path. */
bool tasks_is_text(const char *text);

#endif /* TOOL_TASKS_H */
