// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/file.h"
#include "base/wall.h"
#include "base/xalloc.h"
#include "machine/host.h"
#include "machine/kernel_counts.h"

#define CGROUPS "/sys/fs/cgroup"
#define KERNFS_HANDLE 0xfe	/* FILEID_KERNFS: the id of a control group is its handle */

const char *const kernel_vm_names[KERNEL_VM] = {
	"nr_dirtied", "nr_written", "pgfault", "pgmajfault", "pswpin", "pswpout",
};

static void add_disk(struct kernel_counts *k, const char *line)
{
	/* reads, writes: requests, merged, sectors, ms; 3 others; discards as these; flushes, ms */
	unsigned long long n[17] = { 0 };
	struct kernel_disk d = { 0 };
	unsigned int major, minor, i;

	if (sscanf(line, "%u %u %31s %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu",
		   &major, &minor, d.name, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7],
		   &n[8], &n[9], &n[10], &n[11], &n[12], &n[13], &n[14], &n[15], &n[16]) < 14)
		return;
	d.device = major << 20 | minor;
	d.requests[SUMS_READ] = n[0];
	d.sectors[SUMS_READ] = n[2];
	d.requests[SUMS_WRITE] = n[4];
	d.sectors[SUMS_WRITE] = n[6];
	d.requests[SUMS_DISCARD] = n[11];
	d.sectors[SUMS_DISCARD] = n[13];
	d.requests[SUMS_FLUSH] = n[15];
	for (i = 0; i < sizeof(n) / sizeof(n[0]); i++)
		d.counted |= n[i];
	k->disks = xreallocarray(k->disks, k->nr_disks + 1, sizeof(*k->disks));
	k->disks[k->nr_disks++] = d;
}

/* Calls a function for each line of a file. False if it cannot be read. */
static bool for_lines(struct kernel_counts *k, const char *file,
		      void (*take)(struct kernel_counts *k, const char *line))
{
	char *text, *line, *save = NULL;

	if (host_read(file, &text))
		return false;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		take(k, line);
	free(text);
	return true;
}

static void add_vm(struct kernel_counts *k, const char *line)
{
	unsigned long long n;
	char name[64];
	size_t i;

	if (sscanf(line, "%63s %llu", name, &n) != 2)
		return;
	for (i = 0; i < KERNEL_VM; i++)
		if (!strcmp(name, kernel_vm_names[i]))
			k->vm[i] = n;
}

/* Makes each CPU add its pending counts, of up to about a hundred pages. */
static bool refresh(void)
{
	char *text;
	bool done = !host_read("/proc/sys/vm/stat_refresh", &text);

	if (done)
		free(text);
	return done;
}

static void add_group(struct kernel_counts *k, const char *line)
{
	unsigned long long read, written, reads, writes, discarded;
	unsigned int major, minor;
	struct kernel_group *g;

	if (sscanf(line, "%u:%u rbytes=%llu wbytes=%llu rios=%llu wios=%llu dbytes=%llu", &major,
		   &minor, &read, &written, &reads, &writes, &discarded) != 7)
		return;
	k->groups = xreallocarray(k->groups, k->nr_groups + 1, sizeof(*k->groups));
	g = &k->groups[k->nr_groups++];
	*g = (struct kernel_group){ major << 20 | minor, { read, written, discarded } };
}

/* Opens a group's directory by its id. Returns a descriptor, or -1. */
static int open_group(__u64 cgroup)
{
	struct {
		struct file_handle head;
		__u64 id;
	} handle = { .head = { .handle_bytes = sizeof(cgroup), .handle_type = KERNFS_HANDLE }, .id = cgroup };
	int mount = open(CGROUPS, O_RDONLY | O_DIRECTORY | O_CLOEXEC), dir;

	memcpy(handle.head.f_handle, &cgroup, sizeof(cgroup));
	dir = mount < 0 ? -1 : open_by_handle_at(mount, &handle.head, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mount >= 0)
		close(mount);
	return dir;
}

static void read_group(struct kernel_counts *k, __u64 cgroup)
{
	int dir = open_group(cgroup), fd = dir < 0 ? -1 : openat(dir, "io.stat", O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;

	k->has_group = f;
	while (f && getline(&line, &room, f) > 0)
		add_group(k, line);
	free(line);
	if (f)
		fclose(f);
	if (dir >= 0)
		close(dir);
}

void kernel_counts_read(struct kernel_counts *k, bool pages, __u64 cgroup)
{
	*k = (struct kernel_counts){ .begin = wall_now().monotonic };
	for_lines(k, "/proc/diskstats", add_disk);
	if (cgroup)
		read_group(k, cgroup);
	k->exact = pages && refresh();
	k->has_vm = for_lines(k, "/proc/vmstat", add_vm);
	kernel_io_add(&k->own, getpid());
	k->end = wall_now().monotonic;
}

void kernel_counts_free(struct kernel_counts *k)
{
	free(k->disks);
	free(k->groups);
	*k = (struct kernel_counts){ 0 };
}

const struct kernel_disk *kernel_disk_find(const struct kernel_counts *k, const char *name)
{
	size_t i;

	for (i = 0; i < k->nr_disks; i++)
		if (!strcmp(k->disks[i].name, name))
			return &k->disks[i];
	return NULL;
}

bool kernel_io_add(struct kernel_io *io, pid_t pid)
{
	char *path = xasprintf("/proc/%d/io", pid), *text;
	unsigned long long n[6];
	bool read = !file_read(path, &text), good;

	free(path);
	if (!read)
		return false;
	good = sscanf(text, "rchar: %llu wchar: %llu syscr: %llu syscw: %llu read_bytes: %llu write_bytes: %llu",
		      &n[0], &n[1], &n[2], &n[3], &n[4], &n[5]) == 6;
	free(text);
	if (!good)
		return false;
	io->chars[SUMS_READ] += n[0];
	io->chars[SUMS_WRITE] += n[1];
	io->calls[SUMS_READ] += n[2];
	io->calls[SUMS_WRITE] += n[3];
	io->bytes[SUMS_READ] += n[4];
	io->bytes[SUMS_WRITE] += n[5];
	return true;
}
