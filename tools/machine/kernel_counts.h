/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel counts by itself, at one moment. Files of /proc and /sys are looked for below
 * IOTRACER_ROOT, as in host.h, but for those of processes.
 */
#ifndef TOOL_MACHINE_KERNEL_COUNTS_H
#define TOOL_MACHINE_KERNEL_COUNTS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "trace/sums.h"

/* A line of /proc/diskstats. */
struct kernel_disk {
	char name[SUMS_DISK];
	__u32 device;
	__u64 requests[SUMS_DIRECTIONS], sectors[SUMS_DIRECTIONS];
	bool counted;		/* a number is not 0: the kernel does count its I/O */
};

/* Of /proc/vmstat. */
enum kernel_vm {
	KERNEL_DIRTIED, KERNEL_WRITTEN, KERNEL_FAULTS, KERNEL_MAJOR_FAULTS, KERNEL_SWAPPED_IN,
	KERNEL_SWAPPED_OUT, KERNEL_VM,
};

extern const char *const kernel_vm_names[KERNEL_VM];

/* What /proc/PID/io has. */
struct kernel_io {
	__u64 chars[2], calls[2];	/* SUMS_READ, SUMS_WRITE */
	__u64 bytes[2];			/* from and to devices */
};

/* Of a control group's io.stat: bytes by device. */
struct kernel_group {
	__u32 device;
	__u64 bytes[3];			/* SUMS_READ, SUMS_WRITE, SUMS_DISCARD */
};

struct kernel_counts {
	__u64 begin, end;		/* ns: read between these times */
	struct kernel_disk *disks;
	size_t nr_disks;
	bool has_vm;
	bool exact;			/* what processors held back was added to vm[] before */
	__u64 vm[KERNEL_VM];
	struct kernel_io own;		/* of this process */
	struct kernel_group *groups;
	size_t nr_groups;
	bool has_group;
};

/* @pages: pages are wanted, too, for which all processors add what they hold back. @cgroup: its id, or 0. */
void kernel_counts_read(struct kernel_counts *k, bool pages, __u64 cgroup);
void kernel_counts_free(struct kernel_counts *k);

const struct kernel_disk *kernel_disk_find(const struct kernel_counts *k, const char *name);

/* Adds what a process has done, which may be one that has ended and was not reaped. */
bool kernel_io_add(struct kernel_io *io, pid_t pid);

#endif /* TOOL_MACHINE_KERNEL_COUNTS_H */
