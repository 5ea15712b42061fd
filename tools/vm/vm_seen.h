/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which files a virtual machine was seen to use, and for which drives: of each QEMU there is a file
 * below /run/iotracer, as an image that was deleted or unplugged is of no drive any more when the
 * rows of it are printed. Only who may write there, which is root, keeps anything.
 */
#ifndef TOOL_VM_VM_SEEN_H
#define TOOL_VM_VM_SEEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/*
 * Adds what the machine uses now. A drive that the monitor says nothing of, whose files were open
 * once and are not now, becomes unplugged, unless an image is open that may be its new one.
 */
void vm_seen_update(json_t *machine);

/*
 * A machine that has ended, but whose processes are a target still; NULL: there is none. @nr: how many
 * of this name there are.
 */
json_t *vm_seen_ended(const char *name, size_t *nr);

/* Drops what was kept of machines that have ended and are no targets. */
void vm_seen_clean(void);

/* A file as it was seen from one time to another, with the same drives. */
struct vm_seen_file {
	const char *file;	/* as shown */
	const char *format;	/* NULL: not known */
	const char *drives;	/* with commas; "": of none */
	__u64 inode;
	__u32 device;		/* of its filesystem; as records have it, but for btrfs */
	bool is_device;
	__u64 born;		/* CLOCK_REALTIME ns; 0: not known */
	__u64 first, last;	/* CLOCK_MONOTONIC ns */
};

struct vm_seen {
	struct vm_seen_file *at;
	size_t nr;
	json_t *files;		/* strings point into it */
	__u64 now;		/* when it was looked at last; CLOCK_MONOTONIC ns */
	__s64 offset;		/* of CLOCK_REALTIME */
};

void vm_seen_load(struct vm_seen *seen, const json_t *machine);
void vm_seen_free(struct vm_seen *seen);

struct vm_seen_event {
	__u32 device;
	__u64 inode;
	__u64 time;		/* CLOCK_MONOTONIC ns, of its begin */
	__u64 latency;		/* ns, until its end */
	const char *path;	/* as shown; NULL: not known */
};

/*
 * The file that an event is of, or NULL. @drives: those that it was of at the time of the event. If
 * it was seen with others before and after, they are all of these. The caller frees them.
 */
const struct vm_seen_file *vm_seen_find(const struct vm_seen *seen, const struct vm_seen_event *event,
					char **drives);

#endif /* TOOL_VM_VM_SEEN_H */
