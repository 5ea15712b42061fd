// SPDX-License-Identifier: GPL-2.0
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "machine/cgroup.h"
#include "machine/host.h"
#include "machine/mounts.h"

static bool is_unified(const struct mount *m)
{
	return !strcmp(m->type, "cgroup2");
}

void cgroups_add(struct cgroups *groups, const char *path)
{
	groups->paths = xreallocarray(groups->paths, groups->nr + 1, sizeof(*groups->paths));
	groups->paths[groups->nr++] = xstrdup(path);
}

void cgroups_free(struct cgroups *groups)
{
	while (groups->nr)
		free(groups->paths[--groups->nr]);
	free(groups->paths);
	groups->paths = NULL;
}

/* The path of the group whose directory is @rest below the mount point: "" or "/...". */
static char *path_below(const struct mount *m, const char *rest)
{
	const char *root = strcmp(m->root, "/") ? m->root : "";

	return xasprintf("%s%s", root, *root || *rest ? rest : "/");
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void collect(struct cgroups *groups, const struct mount *m)
{
	char *top = host_path(m->point), *dirs[] = { top, NULL };
	FTS *walk = fts_open(dirs, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *entry;

	while (walk && (entry = fts_read(walk))) {
		char *path;

		if (entry->fts_info != FTS_D)
			continue;
		path = path_below(m, entry->fts_path + strlen(top));
		cgroups_add(groups, path);
		free(path);
	}
	if (walk)
		fts_close(walk);
	free(top);
}

/* All mounts show the same hierarchy, so one is enough. */
bool cgroups_load(struct cgroups *groups)
{
	struct mounts mounts;
	bool found = false;
	size_t i;

	mounts_read(&mounts);
	for (i = 0; i < mounts.nr && !found; i++) {
		found = is_unified(&mounts.at[i]);
		if (found)
			collect(groups, &mounts.at[i]);
	}
	mounts_free(&mounts);
	if (!found)
		cli_say("control groups cannot be found, because cgroup2 is not mounted: mount it (mount -t cgroup2 none DIRECTORY)");
	return found;
}

/* Removes slashes at the end, and repeated ones. */
static char *tidy(char *path)
{
	char *from, *to = path;

	for (from = path; *from; from++)
		if (*from != '/' || (from[1] && from[1] != '/'))
			*to++ = *from;
	if (to == path)
		*to++ = '/';
	*to = '\0';
	return path;
}

/* The absolute path of a directory, which need not exist. The caller frees it. */
static char *place_of(const char *name)
{
	char *place = *name == '/' ? host_path(name) : xstrdup(name);
	char *real = realpath(place, NULL), *here;

	if (!real && *place != '/') {
		here = realpath(".", NULL);
		real = xasprintf("%s/%s", here ? here : "", place);
		free(here);
	}
	if (!real)
		return tidy(place);
	free(place);
	return tidy(real);
}

/* The path of the group whose directory is @place, or NULL if that is not on the mount. */
static char *path_at(const struct mount *m, const char *place)
{
	char *point = host_path(m->point), *top = realpath(point, NULL), *path = NULL;

	if (top && mounts_is_below(place, top))
		path = path_below(m, place + strlen(top));
	free(top);
	free(point);
	return path;
}

char *cgroup_path(const char *name)
{
	char *place = place_of(name), *path = NULL;
	struct mounts mounts;
	size_t i;

	mounts_read(&mounts);
	for (i = 0; i < mounts.nr && !path; i++)
		if (is_unified(&mounts.at[i]))
			path = path_at(&mounts.at[i], place);
	mounts_free(&mounts);
	free(place);
	if (path)
		return path;
	if (*name == '/')
		return tidy(xstrdup(name));
	cli_say_of(name, "is not the directory of a control group (cgroup2): name one, or the path that /proc/PID/cgroup shows after 0::");
	return NULL;
}

const char *cgroup_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool ends_with(const char *text, size_t length, const char *end)
{
	size_t n = strlen(end);

	return length > n && !memcmp(text + length - n, end, n);
}

static char *unit_name(const char *name)
{
	static const char *const types[] = {
		".service", ".socket", ".device", ".mount", ".automount", ".swap", ".target",
		".path", ".timer", ".slice", ".scope",
	};
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (ends_with(name, strlen(name), types[i]))
			return xstrdup(name);
	return xasprintf("%s.service", name);
}

/* systemd prefixes a name that could clash with a file of the directory with _ (memory.service). */
static bool is_unit(const char *path, const char *unit)
{
	const char *name = cgroup_name(path);

	return !strcmp(name + (*name == '_'), unit);
}

/*
 * Whether a unit belongs to the system's own systemd: all groups above it are slices. The units of
 * a user are below user@UID.service, those of a container below the container's unit.
 */
static bool is_of_machine(const char *path)
{
	const char *end;

	for (path++; (end = strchr(path, '/')); path = end + 1)
		if (!ends_with(path, end - path, ".slice"))
			return false;
	return true;
}

void cgroups_say_which(const struct cgroups *several, const char *name)
{
	char *list = xstrdup(several->paths[0]), *longer;
	size_t i;

	for (i = 1; i < several->nr; i++) {
		longer = xasprintf("%s, %s", list, several->paths[i]);
		free(list);
		list = longer;
	}
	cli_say_of(name, "matches %zu control groups: choose one with --cgroup: %s", several->nr, list);
	free(list);
}

static void say_missing(const struct cgroups *groups, const char *unit)
{
	if (groups->traced)
		cli_say_of(unit, "no such unit is traced (iotracer list)");
	else
		cli_say_of(unit, "has no control group: it is not running, or there is no such unit (systemctl status NAME)");
}

/* The system's own unit takes precedence over those of users and containers. */
char *cgroups_unit(const struct cgroups *groups, const char *name)
{
	struct cgroups several = { 0 };
	char *unit = unit_name(name);
	const char *found = NULL;
	size_t i;

	for (i = 0; i < groups->nr; i++) {
		const char *path = groups->paths[i];

		if (!is_unit(path, unit))
			continue;
		cgroups_add(&several, path);
		if (!found || is_of_machine(path))
			found = path;
	}
	if (!found) {
		say_missing(groups, unit);
	} else if (several.nr > 1 && !is_of_machine(found)) {
		cgroups_say_which(&several, unit);
		found = NULL;
	}
	cgroups_free(&several);
	free(unit);
	return found ? xstrdup(found) : NULL;
}
