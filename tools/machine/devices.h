/* SPDX-License-Identifier: GPL-2.0 */
/* Block devices that options name, as a condition of a filter. */
#ifndef TOOL_MACHINE_DEVICES_H
#define TOOL_MACHINE_DEVICES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The number of a block device: of the path of a node, a name in /sys/class/block, or MAJOR:MINOR.
 * False if there is no such device.
 */
bool devices_number(const char *name, unsigned int *major, unsigned int *minor);

/*
 * The condition dev= for these devices: paths of nodes, names in /sys/class/block, or MAJOR:MINOR.
 * With them are their partitions, and what is mounted from them now and has a number of its own, as
 * subvolumes of btrfs. NULL if there is no such device, which is reported. The caller frees it.
 */
char *devices_condition(const char *const *names, size_t nr);

#endif /* TOOL_MACHINE_DEVICES_H */
