/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Disk images and their backing files. Names are looked up below a root directory: that of the
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
	char *format;		/* raw, qcow2, or one that is not supported; NULL: not known */
	bool remote;		/* the name is a URL, not a file's */
	bool found;		/* st is valid */
	struct stat st;
	int fd;			/* for reading; -1: not open */
	char *why;		/* why it cannot be mapped, a sentence without a subject; NULL: it can */
	struct qcow2 qcow2;	/* if format is qcow2 */
	__u64 size;		/* of the disk, bytes */
	char *data_file;	/* external data file of a qcow2 image, or NULL */
};

struct image_chain {
	struct image *at;	/* the top first */
	size_t nr;
};

/*
 * Opens a file as if @root, an open directory, were "/". Returns a descriptor or a negative errno.
 * Opening a device with O_PATH has no side effect on it.
 */
int image_open_below(int root, const char *name, int flags);

/* Opens an image. @format: NULL to detect it. An error is stored in image->why. */
void image_open(struct image *image, int root, const char *name, const char *format);

/* Looks files up for image_open_by(): @find returns an O_PATH descriptor or a negative errno. */
struct image_finder {
	int (*find)(const void *data, const char *name);
	const void *data;
};

/* As image_open(), with files looked up by @finder. */
void image_open_by(struct image *image, const struct image_finder *finder, const char *name, const char *format);
void image_close(struct image *image);

/* Whether a QEMU has it open for writing: it holds locks, unless -drive locking=off was given. */
bool image_is_written(const struct image *image);

/* The absolute name of @name as written in the image @from; the caller frees it. */
char *image_relative(const char *from, const char *name);

/* Whether the name begins with a protocol, as nbd://host/disk does. */
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

/* A range of the guest's disk, and where it is stored. */
struct image_piece {
	__u64 guest, length;
	enum image_kind kind;
	const struct image *layer;	/* that stores it; NULL: none */
	size_t depth;			/* of the layer */
	bool has_host;
	__u64 host, host_length;	/* in the layer's file, or its data file */
};

/*
 * Stores the piece that begins at @guest and ends at @end at the latest. Returns NULL, or an error
 * message about image *@wrong.
 */
const char *image_chain_map(struct image_chain *chain, __u64 guest, __u64 end,
			    struct image_piece *piece, const struct image **wrong);

#endif /* TOOL_VM_IMAGE_H */
