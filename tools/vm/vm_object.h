/* SPDX-License-Identifier: GPL-2.0 */
/* What vm_list() has of a machine. */
#ifndef TOOL_VM_VM_OBJECT_H
#define TOOL_VM_VM_OBJECT_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/* Whether that is its name. */
bool vm_is_called(const json_t *machine, const char *name);

/* Whether that is its PID. */
bool vm_has_pid(const json_t *machine, const char *name);

/* Whether it is the one or the other. */
bool vm_is(const json_t *machine, const char *name);

pid_t vm_pid(const json_t *machine);

#endif /* TOOL_VM_VM_OBJECT_H */
