/* SPDX-License-Identifier: GPL-2.0 */
/* The present drives of a QEMU, by its monitor's answer. */
#ifndef TOOL_VM_QEMU_NOW_H
#define TOOL_VM_QEMU_NOW_H

#include "vm/qemu_drive.h"
#include "vm/qmp.h"

/*
 * Updates the drives of the command line: those that QEMU still has get their present layers, the
 * others are marked as unplugged. Drives that were plugged in are added.
 */
void qemu_now_apply(struct qemu_drives *drives, const struct qmp_answer *answer);

#endif /* TOOL_VM_QEMU_NOW_H */
