/* SPDX-License-Identifier: GPL-2.0 */
/* The texts by which the module knows processes: tasks.h. */
#ifndef TOOL_MODULE_TASKS_TEXT_H
#define TOOL_MODULE_TASKS_TEXT_H

#include <stdbool.h>

/* Whether the module takes the text for processes, not for a path. */
bool tasks_is_text(const char *text);

#endif /* TOOL_MODULE_TASKS_TEXT_H */
