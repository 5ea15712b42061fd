/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The control groups of the unified hierarchy (cgroup2). The path of a group is what
 * /proc/PID/cgroup shows after "0::". Files are looked for below IOTRACER_ROOT, as in host.h.
 */
#ifndef TOOL_MACHINE_CGROUP_H
#define TOOL_MACHINE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

struct cgroups {
	char **paths;
	size_t nr;
	bool traced;		/* they are those of targets; false: those that exist */
};

/* Finds all that exist, in order of their names. False, after a message, if none can be found. */
bool cgroups_load(struct cgroups *groups);
void cgroups_add(struct cgroups *groups, const char *path);
void cgroups_free(struct cgroups *groups);

/*
 * The path of a group, which need not exist, by that path or by one of its directory. NULL after
 * a message. The caller frees it.
 */
char *cgroup_path(const char *name);

/* The last component of a path. */
const char *cgroup_name(const char *path);

/* Which of the groups is a unit of systemd; as above. "x" stands for x.service. */
char *cgroups_unit(const struct cgroups *groups, const char *name);

/* Reports that @name stands for several groups. */
void cgroups_say_which(const struct cgroups *several, const char *name);

#endif /* TOOL_MACHINE_CGROUP_H */
