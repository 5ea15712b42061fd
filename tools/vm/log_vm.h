/* SPDX-License-Identifier: GPL-2.0 */
/* The log of a VM's processes: only events on its images, with the drive in each row. */
#ifndef TOOL_VM_LOG_VM_H
#define TOOL_VM_LOG_VM_H

struct log_options;

/* Prints the log of a VM. Returns an exit code; errors are reported. */
int log_vm(const struct log_options *options);

#endif /* TOOL_VM_LOG_VM_H */
