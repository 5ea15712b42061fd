/* SPDX-License-Identifier: GPL-2.0 */
/* Looks up a VM by its name or PID, and the files that it uses. */
#ifndef TOOL_VM_VM_FIND_H
#define TOOL_VM_VM_FIND_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

/* The VM with this name or PID in an array of vm_list(), or NULL, which was reported. */
json_t *vm_find(const json_t *machines, const char *name);

/*
 * The VM with this name or PID, after its monitor was asked; the caller releases it. NULL if there
 * is none, which was reported. A monitor that does not answer is reported, too, but is no error.
 */
json_t *vm_named(const char *name);

/* As above; also finds a VM that has ended while its processes are a target: with pid and name only. */
json_t *vm_named_or_ended(const char *name);

/* A path by which we can open a file that the process has open, or NULL. The caller frees it. */
char *vm_open_path(pid_t pid, __u32 device, __u64 inode);

/* Whether the process has the file open for writing. */
bool vm_writes(pid_t pid, __u32 device, __u64 inode);

/*
 * The files and devices of all drives of a VM, and its other open images. @drives: the drive of
 * each; "" if none is known. @formats: raw, qcow2 ... or NULL. @shown: the names that QEMU uses.
 * All three are escaped, and belong to the VM's object.
 */
struct vm_files {
	char **names;		/* by which we can open them now */
	const char **drives;
	const char **formats;
	const char **shown;
	bool *deleted;
	size_t nr;
};

/* Files to include besides those that are in use and not deleted. */
enum vm_files_which {
	VM_UNPLUGGED = 1 << 0,	/* files of unplugged drives */
	VM_DELETED = 1 << 1,	/* files that are open and deleted */
};

void vm_files(struct vm_files *files, const json_t *machine, unsigned int which);
void vm_files_free(struct vm_files *files);

#endif /* TOOL_VM_VM_FIND_H */
