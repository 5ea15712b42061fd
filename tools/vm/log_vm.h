/* SPDX-License-Identifier: GPL-2.0 */
/* The log of a VM's processes: only events on its images, with the drive in each row. */
#ifndef TOOL_VM_LOG_VM_H
#define TOOL_VM_LOG_VM_H

#include <jansson.h>

#include "module/target.h"
#include "vm/log_row.h"

/* The target of the machine's processes, or NULL. */
const struct target *log_vm_target(const struct target_list *list, const json_t *machine);

/* Prints it. Returns an exit code; errors are reported. */
int log_vm(const struct log_machine *options, const json_t *machine, const struct target *target);

#endif /* TOOL_VM_LOG_VM_H */
