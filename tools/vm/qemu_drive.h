/* SPDX-License-Identifier: GPL-2.0 */
/* The drives of a virtual machine, as QEMU's command line says. */
#ifndef TOOL_VM_QEMU_DRIVE_H
#define TOOL_VM_QEMU_DRIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "vm/qemu_args.h"

struct qemu_layer {
	char *file;		/* as on the command line; of a protocol: its name and a colon */
	char *format;		/* NULL: not said */
	char *data_file;	/* NULL: not said */
	unsigned long long offset;	/* of a raw one: where the disk begins in the file, bytes */
};

/* Whether QEMU has the drive still. */
enum qemu_drive_state { DRIVE_UNKNOWN, DRIVE_THERE, DRIVE_UNPLUGGED };

/* What is not said is NULL. */
struct qemu_drive {
	char *id;		/* of the drive, as by -drive; QEMU's own where none is given */
	char *node;		/* of the block node */
	char *qdev, *device;	/* id and model of the device */
	char *interface;	/* -drive if=; NULL if there is a device */
	char *serial;
	char *cache, *aio;
	bool snapshot;		/* what is written goes to a temporary file */
	struct qemu_layer *layers;	/* the top first; none: the drive is empty */
	size_t nr_layers;
	bool whole;		/* the command line says what is behind the last layer: nothing */
	bool asked;		/* the layers are those that QEMU said */
	enum qemu_drive_state state;
	bool added;		/* while the machine ran: the command line does not have it */
};

struct qemu_drives {
	struct qemu_drive *at;
	size_t nr;
};

/* @q35: the machine has one IDE drive on a bus; @interface: of a drive that does not say one. */
void qemu_drives_find(struct qemu_drives *drives, const struct qemu_args *args, bool q35,
		      const char *interface);

/* Adds a layer above the others. */
void qemu_drive_put_above(struct qemu_drive *d, const char *file, const char *format);
void qemu_drives_free(struct qemu_drives *drives);

#endif /* TOOL_VM_QEMU_DRIVE_H */
