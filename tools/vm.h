/* SPDX-License-Identifier: GPL-2.0 */
/* The virtual machines that run here: QEMUs, by what /proc says of them. */
#ifndef TOOL_VM_H
#define TOOL_VM_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

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

/* The machine of that name, or of that PID, in such an array; NULL after a message. */
json_t *vm_find(const json_t *machines, const char *name);

/* The machine of that name or PID, which was asked, and which the caller releases; NULL after a message. */
json_t *vm_named(const char *name);

/* The same; or one that has ended, whose processes are a target still. Of that only pid and name are there. */
json_t *vm_named_or_ended(const char *name);

/* Whether it is the machine's name or PID. */
bool vm_is(const json_t *machine, const char *name);

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

/* @all: those of drives that are unplugged, too. */
void vm_files(struct vm_files *files, const json_t *machine, bool all);
void vm_files_free(struct vm_files *files);

#endif /* TOOL_VM_H */
