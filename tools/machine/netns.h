/* SPDX-License-Identifier: GPL-2.0 */
/* Network namespaces. Each has an inode number, which records have. */
#ifndef TOOL_MACHINE_NETNS_H
#define TOOL_MACHINE_NETNS_H

#include <linux/types.h>

#define NETNS_DIRECTORY "/run/netns"	/* where ip-netns(8) keeps the names */

/*
 * Finds a network namespace by its name as ip-netns(8) has it, by the number of a process, or by the
 * path of a file as /proc/PID/ns/net, which has a slash. Returns 0 or a positive errno: EINVAL if the file
 * is no network namespace.
 */
int netns_find(const char *name, __u64 *number);

#endif /* TOOL_MACHINE_NETNS_H */
