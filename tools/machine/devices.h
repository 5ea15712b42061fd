/* SPDX-License-Identifier: GPL-2.0 */
/* Block devices named by options and filters. */
#ifndef TOOL_MACHINE_DEVICES_H
#define TOOL_MACHINE_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Looks up the number of a block device, given as the path of its node, its name in /sys/class/block,
 * or MAJOR:MINOR. False if there is no such device.
 */
bool devices_number(const char *name, unsigned int *major, unsigned int *minor);

/*
 * Makes the condition dev= for devices, named as above. It includes their partitions, and mounts of
 * them with device numbers of their own, such as btrfs subvolumes. Returns NULL, after a message, if
 * there is no such device. The caller frees it.
 */
char *devices_condition(const char *const *names, size_t nr);

#endif /* TOOL_MACHINE_DEVICES_H */
