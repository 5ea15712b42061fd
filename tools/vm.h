/* SPDX-License-Identifier: GPL-2.0 */
/* The virtual machines that run here: QEMUs, by what /proc says of them. */
#ifndef TOOL_VM_H
#define TOOL_VM_H

#include <jansson.h>
#include <sys/types.h>

struct target_list;

/*
 * An array with an object for each: pid, name, uuid, drives, open_files. What cannot be found out
 * is null. @targets: NULL if it is not known what is traced.
 */
json_t *vm_list(struct target_list *targets);

/* The machine of that name, or of that PID, in such an array; NULL after a message. */
json_t *vm_find(const json_t *machines, const char *name);

/* The machine of that name or PID, which the caller releases; NULL after a message. */
json_t *vm_named(const char *name);

pid_t vm_pid(const json_t *machine);

/*
 * The files and devices of all its drives, and those that are open besides. @drives: the drive of
 * each, as shown, valid while the machine is; "" if none is known. @formats: raw, qcow2 ... or NULL.
 */
struct vm_files {
	char **names;
	const char **drives;
	const char **formats;
	size_t nr;
};

void vm_files(struct vm_files *files, const json_t *machine);
void vm_files_free(struct vm_files *files);

#endif /* TOOL_VM_H */
