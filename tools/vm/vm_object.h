/* SPDX-License-Identifier: GPL-2.0 */
/* Name and PID of a VM in vm_list()'s array. */
#ifndef TOOL_VM_VM_OBJECT_H
#define TOOL_VM_VM_OBJECT_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/* Whether this is its name. */
bool vm_is_called(const json_t *machine, const char *name);

/* Whether this is its PID. */
bool vm_has_pid(const json_t *machine, const char *name);

/* Whether this is its name or its PID. */
bool vm_is(const json_t *machine, const char *name);

pid_t vm_pid(const json_t *machine);

#endif /* TOOL_VM_VM_OBJECT_H */
