/* SPDX-License-Identifier: GPL-2.0 */
/* The virtual machines that run here: QEMUs, by what /proc says of them. */
#ifndef TOOL_VM_H
#define TOOL_VM_H

#include <jansson.h>

struct target_list;

/*
 * An array with an object for each: pid, name, uuid, drives, open_files. What cannot be found out
 * is null. @targets: NULL if it is not known what is traced.
 */
json_t *vm_list(struct target_list *targets);

#endif /* TOOL_VM_H */
