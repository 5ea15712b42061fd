/* SPDX-License-Identifier: GPL-2.0 */
/* Lists the VMs that run here: QEMU processes, found in /proc. */
#ifndef TOOL_VM_VM_H
#define TOOL_VM_VM_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

struct target_list;

/*
 * An array with an object for each VM: pid, name, uuid, asked, drives, open_files. Unknown values are
 * null. @targets: NULL if it is not known what is traced.
 */
json_t *vm_list(struct target_list *targets);

/*
 * As above; VMs whose name or PID is among @names are asked for their drives through their monitors,
 * and their files are remembered (vm_seen.h).
 */
json_t *vm_list_ask(struct target_list *targets, char *const *names, size_t nr);

#endif /* TOOL_VM_VM_H */
