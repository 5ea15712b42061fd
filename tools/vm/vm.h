/* SPDX-License-Identifier: GPL-2.0 */
/* The virtual machines that run here: QEMUs, by what /proc says of them. */
#ifndef TOOL_VM_VM_H
#define TOOL_VM_VM_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

struct target_list;

/*
 * An array with an object for each: pid, name, uuid, asked, drives, open_files. What cannot be found
 * out is null. @targets: NULL if it is not known what is traced.
 */
json_t *vm_list(struct target_list *targets);

/*
 * The same; those of the machines whose name or PID is among @names are asked for their drives, and
 * what was seen of their files is kept (vm_seen.h).
 */
json_t *vm_list_ask(struct target_list *targets, char *const *names, size_t nr);

#endif /* TOOL_VM_VM_H */
