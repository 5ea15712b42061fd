/* SPDX-License-Identifier: GPL-2.0 */
/* The log of one image, translated to the guest's disk. */
#ifndef TOOL_VM_LOG_IMAGE_H
#define TOOL_VM_LOG_IMAGE_H

struct log_options;

/* Prints the events in the order of time, a row for each part. Returns an exit code; errors are reported. */
int log_image(const struct log_options *options);

#endif /* TOOL_VM_LOG_IMAGE_H */
