/* SPDX-License-Identifier: GPL-2.0 */
/* Looks up a VM by its name or PID, and the files that it uses. */
#ifndef TOOL_VM_VM_FIND_H
#define TOOL_VM_VM_FIND_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

/* The machine of that name, or of that PID, in such an array; NULL after a message. */
json_t *vm_find(const json_t *machines, const char *name);

/*
 * The machine of that name or PID, which was asked, and which the caller releases; NULL after a
 * message. There is one, too, if it did not answer.
 */
json_t *vm_named(const char *name);

/* The same; or one that has ended, whose processes are a target still. Of that only pid and name are there. */
json_t *vm_named_or_ended(const char *name);

/* Where a file that the process has open can be opened; the caller frees it. NULL: nowhere. */
char *vm_open_path(pid_t pid, __u32 device, __u64 inode);

/* Whether the process has the file open to write it. */
bool vm_writes(pid_t pid, __u32 device, __u64 inode);

/*
 * The files and devices of all its drives, and those that are open besides. @drives: the drive of
 * each; "" if none is known. @formats: raw, qcow2 ... or NULL. @shown: the names that QEMU has. All
 * three are as shown, and valid while the machine is.
 */
struct vm_files {
	char **names;		/* by which they can be opened here, now */
	const char **drives;
	const char **formats;
	const char **shown;
	bool *deleted;
	size_t nr;
};

/* Which of them, besides those that are in use and have a name. */
enum vm_files_which {
	VM_UNPLUGGED = 1 << 0,	/* those of drives that are unplugged, too */
	VM_DELETED = 1 << 1,	/* those that are open and have no name any more, too */
};

void vm_files(struct vm_files *files, const json_t *machine, unsigned int which);
void vm_files_free(struct vm_files *files);

#endif /* TOOL_VM_VM_FIND_H */
