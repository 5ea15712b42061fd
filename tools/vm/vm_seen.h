/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Remembers which files a VM used for which drives, in a file per QEMU below /run/iotracer: when rows
 * of an image are printed, it may have been deleted or unplugged since. Nothing is remembered by users
 * who may not write there, that is, by anybody but root.
 */
#ifndef TOOL_VM_VM_SEEN_H
#define TOOL_VM_VM_SEEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/*
 * Adds the files that the VM uses now. A drive that the monitor does not report, and whose files
 * were open and are closed now, is marked as unplugged, unless an open image may be its new one.
 */
void vm_seen_update(json_t *machine);

/*
 * A VM that has ended while its processes are still a target, or NULL. *@nr: the number of such
 * VMs with this name.
 */
json_t *vm_seen_ended(const char *name, size_t *nr);

/* Forgets VMs that have ended and are not targets. */
void vm_seen_clean(void);

/* A file that had the same drives from one time to another. */
struct vm_seen_file {
	const char *file;	/* escaped */
	const char *format;	/* NULL: not known */
	const char *drives;	/* separated by commas; "": none */
	__u64 inode;
	__u32 device;		/* of its filesystem, as in records, except for btrfs */
	bool is_device;
	__u64 born;		/* CLOCK_REALTIME ns; 0: not known */
	__u64 first, last;	/* CLOCK_MONOTONIC ns */
};

struct vm_seen {
	struct vm_seen_file *at;
	size_t nr;
	json_t *files;		/* strings point into it */
	__u64 now;		/* of the last look; CLOCK_MONOTONIC ns */
	__s64 offset;		/* of CLOCK_REALTIME */
};

void vm_seen_load(struct vm_seen *seen, const json_t *machine);
void vm_seen_free(struct vm_seen *seen);

struct vm_seen_event {
	__u32 device;
	__u64 inode;
	__u64 time;		/* of its start; CLOCK_MONOTONIC ns */
	__u64 latency;		/* ns */
	const char *path;	/* escaped; NULL: not known */
};

/*
 * The file that an event concerns, or NULL. *@drives: its drives at the time of the event; if it had
 * different ones before and after, all of them. The caller frees *@drives.
 */
const struct vm_seen_file *vm_seen_find(const struct vm_seen *seen, const struct vm_seen_event *event,
					char **drives);

#endif /* TOOL_VM_VM_SEEN_H */
