/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The control groups of the unified hierarchy (cgroup2). The path of a group is the one that
 * /proc/PID/cgroup shows after "0::". Files are looked up below IOTRACER_ROOT, as in host.h.
 */
#ifndef TOOL_MACHINE_CGROUP_H
#define TOOL_MACHINE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

struct cgroups {
	char **paths;
	size_t nr;
	bool traced;		/* the groups of targets; false: all that exist */
};

/* Lists all groups, sorted by name. False if cgroup2 is not mounted, which was reported. */
bool cgroups_load(struct cgroups *groups);
void cgroups_add(struct cgroups *groups, const char *path);
void cgroups_free(struct cgroups *groups);

/*
 * The path of a group, given that path or a path of the group's directory. The group need not
 * exist. NULL after an error, which was reported. The caller frees it.
 */
char *cgroup_path(const char *name);

/* The last component of a path. */
const char *cgroup_name(const char *path);

/* The path of a systemd unit's group, or NULL, as above. "x" stands for x.service. */
char *cgroups_unit(const struct cgroups *groups, const char *name);

/* Reports that @name matches several groups. */
void cgroups_say_which(const struct cgroups *several, const char *name);

#endif /* TOOL_MACHINE_CGROUP_H */
