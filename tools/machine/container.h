/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Containers by their control groups, whose names have their IDs, and by what podman and docker
 * keep on disk, which has their names.
 */
#ifndef TOOL_MACHINE_CONTAINER_H
#define TOOL_MACHINE_CONTAINER_H

struct cgroups;

/*
 * The path of the control group of a container, among @groups, by its name, its ID or the first
 * digits of that. NULL after a message. The caller frees it.
 */
char *container_find(const struct cgroups *groups, const char *name);

#endif /* TOOL_MACHINE_CONTAINER_H */
