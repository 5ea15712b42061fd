/* SPDX-License-Identifier: GPL-2.0 */
/* The drives of a QEMU as it has them now, by what its monitor answered. */
#ifndef TOOL_VM_QEMU_NOW_H
#define TOOL_VM_QEMU_NOW_H

#include "vm/qemu_drive.h"
#include "vm/qmp.h"

/*
 * Changes the drives of the command line: of those that QEMU still has, the layers are the present
 * ones; the others are marked as unplugged. What it has besides is added.
 */
void qemu_now_apply(struct qemu_drives *drives, const struct qmp_answer *answer);

#endif /* TOOL_VM_QEMU_NOW_H */
