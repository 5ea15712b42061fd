/* SPDX-License-Identifier: GPL-2.0 */
/* The logs of all files of a virtual machine as one; of these and of one file in the guest's terms. */
#ifndef TOOL_VM_LOG_MACHINE_H
#define TOOL_VM_LOG_MACHINE_H

struct log_machine;

/*
 * Prints the events of a machine, of its processes or of its files that are traced, in order of
 * time, with the drive in each row, or those of a file. Returns an exit code; errors are reported.
 */
int log_machine(const struct log_machine *options);

#endif /* TOOL_VM_LOG_MACHINE_H */
