/* SPDX-License-Identifier: GPL-2.0 */
/* The drives of a VM, by QEMU's command line. */
#ifndef TOOL_VM_QEMU_DRIVE_H
#define TOOL_VM_QEMU_DRIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "vm/qemu_args.h"

struct qemu_layer {
	char *file;		/* as on the command line; for a protocol its name and a colon */
	char *format;		/* NULL: not given */
	char *data_file;	/* NULL: not given */
	unsigned long long offset;	/* bytes of a raw file before the disk */
};

/* Whether QEMU still has the drive. */
enum qemu_drive_state { DRIVE_UNKNOWN, DRIVE_THERE, DRIVE_UNPLUGGED };

/* Strings are NULL where the command line has nothing. */
struct qemu_drive {
	char *id;		/* by -drive, or the one that QEMU generates */
	char *node;		/* of the block node */
	char *qdev, *device;	/* id and model of the device */
	char *interface;	/* -drive if=; NULL if there is a device */
	char *serial;
	char *cache, *aio;
	bool snapshot;		/* writes go to a temporary file */
	struct qemu_layer *layers;	/* the top first; an empty drive has none */
	size_t nr_layers;
	bool whole;		/* the command line says that the last layer has no backing file */
	bool asked;		/* the layers are those that QEMU reported */
	enum qemu_drive_state state;
	bool added;		/* plugged in later: the command line does not have it */
};

struct qemu_drives {
	struct qemu_drive *at;
	size_t nr;
};

/* @q35: an IDE bus has one drive. @interface: the default for -drive without if=. */
void qemu_drives_find(struct qemu_drives *drives, const struct qemu_args *args, bool q35,
		      const char *interface);

/* Adds a layer above the others. */
void qemu_drive_put_above(struct qemu_drive *d, const char *file, const char *format);
void qemu_drives_free(struct qemu_drives *drives);

#endif /* TOOL_VM_QEMU_DRIVE_H */
