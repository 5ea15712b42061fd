/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds containers by the IDs in the names of their control groups, and by the names that podman
 * and docker store on disk.
 */
#ifndef TOOL_MACHINE_CONTAINER_H
#define TOOL_MACHINE_CONTAINER_H

struct cgroups;

/*
 * The path of a container's control group among @groups, by the container's name, its ID or the
 * first digits of its ID. NULL after an error, which was reported. The caller frees it.
 */
char *container_find(const struct cgroups *groups, const char *name);

/* The names, and the first digits of the IDs, of all containers among @groups. */
void container_each(const struct cgroups *groups, void (*take)(void *data, const char *name),
		    void *data);

#endif /* TOOL_MACHINE_CONTAINER_H */
