/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Images of disks and their backing files. Names are looked up below a directory: the root of the
 * process that uses the images, or our own.
 */
#ifndef TOOL_VM_IMAGE_H
#define TOOL_VM_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <linux/types.h>

#include "vm/qcow2.h"

#define IMAGE_LAYERS	200	/* of a chain */
#define IMAGE_OWN_ROOT	-1

struct image {
	char *name;
	char *format;		/* raw, qcow2 or one that cannot be read here; NULL: not known */
	bool remote;		/* the name is that of no file */
	bool found;		/* st is valid */
	struct stat st;
	int fd;			/* for reading; -1: not open */
	char *why;		/* it cannot be mapped: a sentence without a subject; NULL: it can */
	struct qcow2 qcow2;	/* if format is qcow2 */
	__u64 size;		/* of the disk, bytes */
	char *data_file;	/* the external one of a qcow2 image, or NULL */
};

struct image_chain {
	struct image *at;	/* the top first */
	size_t nr;
};

/*
 * Opens a file as if @root, an open directory, were "/". Returns a descriptor or a negative errno.
 * With O_PATH it has no effect on a device.
 */
int image_open_below(int root, const char *name, int flags);

/* Opens an image; @format: NULL is found out. What fails is in image->why. */
void image_open(struct image *image, int root, const char *name, const char *format);

/* Where files are: @find returns a descriptor of O_PATH, or a negative errno. */
struct image_finder {
	int (*find)(const void *data, const char *name);
	const void *data;
};

/* The same, with files that somebody else finds. */
void image_open_by(struct image *image, const struct image_finder *finder, const char *name, const char *format);
void image_close(struct image *image);

/* Whether a QEMU has it open to write it, by the locks that all but -drive locking=off hold. */
bool image_is_written(const struct image *image);

/* The absolute name of @name as written in the image @from; the caller frees it. */
char *image_relative(const char *from, const char *name);

/* Whether the name says a protocol, as in nbd://host/disk. */
bool image_is_remote(const char *name);

/* Whether both are the same file or device. */
bool image_is_same(const struct stat *a, const struct stat *b);

/* Opens the backing files of the last layer, and theirs. */
void image_chain_follow(struct image_chain *chain, int root);
void image_chain_follow_by(struct image_chain *chain, const struct image_finder *finder);

/* Appends a layer, and returns it. */
struct image *image_chain_add(struct image_chain *chain);
void image_chain_close(struct image_chain *chain);

enum image_kind { IMAGE_DATA, IMAGE_ZERO, IMAGE_UNALLOCATED, IMAGE_COMPRESSED };

/* A part of the guest's disk, and where it lies. */
struct image_piece {
	__u64 guest, length;
	enum image_kind kind;
	const struct image *layer;	/* NULL: no layer has it */
	size_t depth;			/* of the layer */
	bool has_host;
	__u64 host, host_length;	/* of the layer's file, or its data file */
};

/*
 * What is at @guest, and how far it goes, up to @end. Returns NULL, or what is wrong with
 * *@wrong.
 */
const char *image_chain_map(struct image_chain *chain, __u64 guest, __u64 end,
			    struct image_piece *piece, const struct image **wrong);

#endif /* TOOL_VM_IMAGE_H */
