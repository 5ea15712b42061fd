/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's own counts at one moment. Files of /proc and /sys, except those of processes, are
 * looked up below IOTRACER_ROOT, as in host.h.
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
	bool counted;		/* some count is not 0, so the kernel counts its I/O */
};

/* Of /proc/vmstat. */
enum kernel_vm {
	KERNEL_DIRTIED, KERNEL_WRITTEN, KERNEL_FAULTS, KERNEL_MAJOR_FAULTS, KERNEL_SWAPPED_IN,
	KERNEL_SWAPPED_OUT, KERNEL_VM,
};

extern const char *const kernel_vm_names[KERNEL_VM];

/* Counts of /proc/PID/io. */
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
	bool exact;			/* the CPUs' pending counts were added to vm[] first */
	__u64 vm[KERNEL_VM];
	struct kernel_io own;		/* of this process */
	struct kernel_group *groups;
	size_t nr_groups;
	bool has_group;
};

/* @pages: make all CPUs add their pending counts of pages first. @cgroup: its id, or 0. */
void kernel_counts_read(struct kernel_counts *k, bool pages, __u64 cgroup);
void kernel_counts_free(struct kernel_counts *k);

const struct kernel_disk *kernel_disk_find(const struct kernel_counts *k, const char *name);

/* Adds the counts of a process, which may be a zombie. False if they cannot be read. */
bool kernel_io_add(struct kernel_io *io, pid_t pid);

#endif /* TOOL_MACHINE_KERNEL_COUNTS_H */
