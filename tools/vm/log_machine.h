/* SPDX-License-Identifier: GPL-2.0 */
/* One log of all files of a VM, or of one image, optionally translated to the guest's disk. */
#ifndef TOOL_VM_LOG_MACHINE_H
#define TOOL_VM_LOG_MACHINE_H

struct log_machine;

/*
 * Prints, in the order of time, the events of a VM - of its processes if they are a target, else of
 * its traced files - with the drive in each row; or the events of one file. Returns an exit code;
 * errors are reported.
 */
int log_machine(const struct log_machine *options);

#endif /* TOOL_VM_LOG_MACHINE_H */
