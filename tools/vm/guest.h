/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the bytes of a disk image's file are to its guest. Of a qcow2 image that changes, so there
 * are maps of several times. Of an event that began at some time, for each place in the file:
 *
 *   - before: the last map that was read before that time;
 *   - after: the first map that was read later and has the place in use, as a write comes before
 *     the tables tell of it.
 *
 * If one of them has the place in use, that counts. If both have, and say the same, that. If they
 * differ, it is unsure. If none has, it was in use for a time between them only; or its QEMU, if it
 * had the image open when the last map was read, has the tables that tell of it in its memory still:
 * it is pending.
 */
#ifndef TOOL_VM_GUEST_H
#define TOOL_VM_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "vm/image.h"
#include "vm/qcow2_host.h"

/* A map's regions in order, without those that are unused. */
struct guest_map {
	__u64 begin, end;	/* its tables were read in between; CLOCK_MONOTONIC ns */
	struct qcow2_region *at;
	size_t nr, room;
	bool live;		/* a QEMU had the image open to write it */
};

struct guest_image {
	char *file;		/* its name, as it is shown */
	char *drives;		/* names of the drives that it is of, with commas; "": not known */
	__u32 device;		/* of its filesystem, as in records */
	__u64 inode;
	bool same;		/* the guest has each byte at the same offset: raw */
	struct guest_map *maps;	/* in order of time */
	size_t nr_maps;
	bool given, seen;	/* the user has named it; an event was looked up */
	__u64 pending;		/* events that were looked up of which a part is pending */
};

struct guest_images {
	struct guest_image *at;
	size_t nr;
};

/* A part of a range of a file. */
struct guest_part {
	__u64 host, length;
	const char *kind;	/* that of a region, "unsure" or "pending" */
	bool has_guest;
	bool whole;		/* the guest's range is that of a cluster or table, in whatever part of it */
	__u64 guest, guest_length;
};

struct guest_parts {
	struct guest_part *at;
	size_t nr, room;
};

/* Appends an image without a map. Takes @drives. */
struct guest_image *guest_images_add(struct guest_images *images, const char *file, char *drives);
void guest_images_free(struct guest_images *images);

/* The image with this file, or NULL. @path as it is shown, or NULL; for devices that records know otherwise. */
struct guest_image *guest_images_find(const struct guest_images *images, __u32 device, __u64 inode,
				      const char *path);

/* Adds a name to a list of names with commas, unless it is there. Takes and returns the list. */
char *guest_add_drive(char *drives, const char *drive);

/*
 * Opens the file, notes which one it is, and adds its present map. @format: NULL is found out;
 * "raw" has no map. @most: a file of more clusters is refused, as all tables are read for each 2^20
 * of them; 0: none is. Returns what is wrong with it, which the caller frees, or NULL.
 */
char *guest_image_read(struct guest_image *image, const char *name, const char *format, __u64 most);

/* An empty map, which the caller fills; the last one of the image. */
struct guest_map *guest_image_add_map(struct guest_image *image);
void guest_map_add(struct guest_map *map, const struct qcow2_region *region);
void guest_image_sort(struct guest_image *image);

/* Appends the parts of a range of the file, for an event that began at @time. */
void guest_find(struct guest_image *image, __u64 time, __u64 host, __u64 length,
		struct guest_parts *parts);

/* Says of which images events are pending. @trace: the maps are those of a trace, and no others follow. */
void guest_images_report(const struct guest_images *images, bool trace);

#endif /* TOOL_VM_GUEST_H */
