/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names that this machine has for the numbers in records: of cgroups, disks, and virtual machines.
 */
#ifndef TOOL_TOP_NAMES_H
#define TOOL_TOP_NAMES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* Start from a zeroed struct. They are looked up when they are first asked for. */
struct top_names {
	struct top_cgroup {
		__u64 id;
		char *path;
	} *cgroups;
	size_t nr_cgroups;
	json_t *vms;		/* of vm_list() */
	__u64 cgroups_at, vms_at;	/* CLOCK_MONOTONIC ns: when they were looked up */
};

/* The path of a cgroup by its id, escaped, or NULL. Valid until the next call. */
const char *top_names_cgroup(struct top_names *n, const char *id);

/* The name of a block device, "8:0", as "sda". NULL if there is none. The caller frees it. */
char *top_names_disk(const char *device);

/*
 * The name of the VM that has the process, and the drive whose file that is: "" for another file.
 * False if it is no VM's process. Valid until the next call.
 */
bool top_names_vm(struct top_names *n, const char *pid, const char *file, const char **vm,
		  const char **drive);
void top_names_free(struct top_names *n);

#endif /* TOOL_TOP_NAMES_H */
