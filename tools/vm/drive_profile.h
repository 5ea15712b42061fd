/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The access patterns of a VM's drives, at the offsets that the guest uses: from the calls of QEMU
 * on the images, and the maps of these in the trace (guest.h).
 *
 * A call has a part for each range of the guest's disk that it touches. Each part with data of the
 * guest is an access; a latency is that of a whole call. What touches the image's own tables, or a
 * place whose use is not known, is counted apart. A flush is an fsync or fdatasync of an image.
 * Calls on an image and on its backing files are those of one drive.
 *
 * Memory grows with the drives, the different sizes and latencies, and the maps.
 */
#ifndef TOOL_VM_DRIVE_PROFILE_H
#define TOOL_VM_DRIVE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/measure.h"
#include "trace/pattern.h"
#include "trace/paths.h"
#include "trace/reuse.h"
#include "trace/stats.h"
#include "vm/guest.h"

enum drive_kind { DRIVE_READ, DRIVE_WRITE, DRIVE_FLUSH, DRIVE_KINDS };

extern const char *const drive_kinds[DRIVE_KINDS];	/* "read" ... */

/* Calls that did not fail. */
struct drive_calls {
	__u64 calls, failed;
	struct stats_range latency;		/* ns */
	struct distribution latencies;
	__u64 percentiles[STATS_PERCENTILES];	/* ns; from drive_profile_finish() on */
};

#define DRIVE_USES	24	/* more than the uses that maps tell of */

/* Parts of calls on places of an image with one use: "data", "l2" ... */
struct drive_use {
	const char *use;
	__u64 parts[PATTERN_KINDS], bytes[PATTERN_KINDS];	/* bytes of the file */
};

struct drive {
	char *name;		/* those of drives that share an image: "disk0,disk1"; escaped */
	struct drive_calls kinds[DRIVE_KINDS];
	__u64 empty;		/* reads and writes that moved nothing */
	__u64 tables;		/* parts of calls: tables of the image, a saved state */
	__u64 unknown;		/* parts of calls whose place is not known */
	struct drive_use uses[DRIVE_USES];	/* of data, too */
	size_t nr_uses;
};

struct drive_profile {
	struct guest_images images;
	size_t *drive_of;	/* by image */
	struct drive *drives;
	size_t nr;
	struct patterns patterns;	/* a row for each drive */
	bool with_reuse;
	struct reuse reuse;		/* as well */
	__u64 others;		/* calls on other files */
	/* Called for each access, at the guest's offset, if it is set after drive_profile_open(). */
	void (*placed)(void *data, size_t drive, bool write, const struct guest_part *part,
		       const struct measure *m);
	void *data;		/* for that */
	struct guest_parts parts;	/* of the present call */
};

/*
 * Takes the images, with their maps. @memory: bytes for reuse; 0: without it. Free it in the end.
 */
void drive_profile_open(struct drive_profile *p, struct guest_images *images, __u64 memory);
void drive_profile_free(struct drive_profile *p);

/* @record: of category fs. */
void drive_profile_add(struct drive_profile *p, const struct paths *paths, const void *record,
		       const struct measure *m);
void drive_profile_finish(struct drive_profile *p);

/* Whether it had no call. */
bool drive_is_idle(const struct drive *d);

#endif /* TOOL_VM_DRIVE_PROFILE_H */
