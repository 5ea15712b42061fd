/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Translates ranges of a disk image's file to the guest's disk. The layout of a qcow2 image changes, so
 * an image has maps of several times. For an event, each place of the file is looked up in two maps:
 *
 *   - before: the last map read before the event began;
 *   - after: the first later map in which the place is in use, because QEMU writes data before it
 *     updates the tables that refer to it.
 *
 * If only one map has the place in use, it decides. If both have and agree, they decide; if they
 * differ, the result is "unsure". If neither has, either the place was in use only between the two
 * maps, or QEMU, which had the image open for writing when the last map was read, has not written its
 * tables yet: the result is "pending".
 */
#ifndef TOOL_VM_GUEST_H
#define TOOL_VM_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "vm/image.h"
#include "vm/qcow2_host.h"

/* The used regions of an image at one time, in the order of the file. */
struct guest_map {
	__u64 begin, end;	/* start and end of reading the tables; CLOCK_MONOTONIC ns */
	struct qcow2_region *at;
	size_t nr, room;
	bool live;		/* a QEMU had the image open for writing */
};

struct guest_image {
	char *file;		/* its name, escaped */
	char *drives;		/* the drives that it belongs to, separated by commas; "": not known */
	__u32 device;		/* of its filesystem, as in records */
	__u64 inode;
	bool same;		/* the guest has each byte at the same offset: raw */
	struct guest_map *maps;	/* in order of time */
	size_t nr_maps;
	bool given, seen;	/* named by the user; looked up for an event */
	__u64 pending;		/* looked-up events with a pending part */
};

struct guest_images {
	struct guest_image *at;
	size_t nr;
};

/* A range of the file with one meaning to the guest. */
struct guest_part {
	__u64 host, length;
	const char *kind;	/* a region's use, "unsure" or "pending" */
	bool has_guest;
	bool whole;		/* the guest's range is the whole cluster's, or all that the table describes */
	__u64 guest, guest_length;
};

struct guest_parts {
	struct guest_part *at;
	size_t nr, room;
};

/* Appends an image without a map. Takes @drives. */
struct guest_image *guest_images_add(struct guest_images *images, const char *file, char *drives);
void guest_images_free(struct guest_images *images);

/* The image with this file, or NULL. @path, escaped, or NULL: for files whose device number differs in records. */
struct guest_image *guest_images_find(const struct guest_images *images, __u32 device, __u64 inode,
				      const char *path);

/* Adds a name to a list of names with commas, unless it is there. Takes and returns the list. */
char *guest_add_drive(char *drives, const char *drive);

/*
 * Opens the file, stores its device and inode, and adds its present map. @format: NULL to detect it;
 * "raw" needs no map. @most: refuse a file with more clusters, because all tables are read once per
 * 2^20 clusters; 0: no limit. Returns NULL, or an error message, which the caller frees.
 */
char *guest_image_read(struct guest_image *image, const char *name, const char *format, __u64 most);

/* Appends an empty map, which the caller fills. */
struct guest_map *guest_image_add_map(struct guest_image *image);
void guest_map_add(struct guest_map *map, const struct qcow2_region *region);
void guest_image_sort(struct guest_image *image);

/* Forgets the maps that no event needs that began at @time or later. */
void guest_image_forget(struct guest_image *image, __u64 time);

/* Appends the parts of a range of the file, for an event that began at @time. */
void guest_find(struct guest_image *image, __u64 time, __u64 host, __u64 length,
		struct guest_parts *parts);

/* Whether the use of the part's place is known: neither "unsure" nor "pending". */
bool guest_part_is_known(const struct guest_part *part);

/* Reports the images with pending events. @trace: the maps are those of a trace, which gets no more. */
void guest_images_report(const struct guest_images *images, bool trace);

#endif /* TOOL_VM_GUEST_H */
