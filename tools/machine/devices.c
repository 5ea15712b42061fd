// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "machine/devices.h"
#include "machine/mounts.h"
#include "machine/system.h"

struct device {
	unsigned int major, minor;
};

struct devices {
	struct device *at;
	size_t nr;
};

static bool have(const struct devices *d, struct device wanted)
{
	size_t i;

	for (i = 0; i < d->nr; i++)
		if (d->at[i].major == wanted.major && d->at[i].minor == wanted.minor)
			return true;
	return false;
}

static void add(struct devices *d, struct device new)
{
	if (have(d, new))
		return;
	d->at = xreallocarray(d->at, d->nr + 1, sizeof(*d->at));
	d->at[d->nr++] = new;
}

static bool parse(const char *text, struct device *d)
{
	int end = 0;

	return text && sscanf(text, "%u:%u%n", &d->major, &d->minor, &end) == 2 && !text[end];
}

static bool parse_file(char *text, struct device *d)
{
	bool good = parse(text, d);

	free(text);
	return good;
}

static bool is_node(const char *path, struct device *d)
{
	struct stat st;

	if (*path != '/' || stat(path, &st) || !S_ISBLK(st.st_mode))
		return false;
	d->major = major(st.st_rdev);
	d->minor = minor(st.st_rdev);
	return true;
}

static bool identify(const char *name, struct device *d)
{
	if (strchr(name, '/'))
		return is_node(name, d);
	return parse(name, d) || parse_file(system_text("/sys/class/block/%s/dev", name), d);
}

/* @disk: its name in /sys/class/block */
static void add_partitions(struct devices *d, const char *disk)
{
	char *directory = xasprintf("/sys/class/block/%s", disk);
	struct system_names names;
	struct device found;
	size_t i;

	system_list(&names, directory, disk);
	for (i = 0; i < names.nr; i++)
		if (parse_file(system_text("%s/%s/dev", directory, names.at[i]), &found))
			add(d, found);
	system_unlist(&names);
	free(directory);
}

static bool add_named(struct devices *d, const char *name)
{
	struct device device;
	char *kernel = NULL;

	if (identify(name, &device))
		kernel = system_link("/sys/dev/block/%u:%u", device.major, device.minor);
	if (!kernel) {
		cli_say("--device=%s: no such block device: give the path of its node, its name or MAJOR:MINOR",
			name);
		return false;
	}
	add(d, device);
	add_partitions(d, kernel);
	free(kernel);
	return true;
}

/* The number that stat(2) shows for files of a mount: with btrfs each subvolume has its own. */
static void add_mount(struct devices *d, const struct mount *m)
{
	struct stat st;

	if (!stat(m->point, &st))
		add(d, (struct device){ major(st.st_dev), minor(st.st_dev) });
}

static void add_filesystems(struct devices *d)
{
	struct mounts mounts;
	struct device from;
	size_t i;

	if (!mounts_read(&mounts))
		for (i = 0; i < mounts.nr; i++)
			if (is_node(mounts.at[i].source, &from) && have(d, from))
				add_mount(d, &mounts.at[i]);
	mounts_free(&mounts);
}

static char *condition(const struct devices *d)
{
	char *all = xstrdup(""), *longer;
	size_t i;

	for (i = 0; i < d->nr; i++) {
		longer = xasprintf("%s%s%u:%u", all, i ? "," : "dev=", d->at[i].major,
				   d->at[i].minor);
		free(all);
		all = longer;
	}
	return all;
}

bool devices_number(const char *name, unsigned int *major, unsigned int *minor)
{
	struct device d;

	if (!identify(name, &d))
		return false;
	*major = d.major;
	*minor = d.minor;
	return true;
}

char *devices_condition(const char *const *names, size_t nr)
{
	struct devices d = { 0 };
	char *all = NULL;
	bool good = true;
	size_t i;

	for (i = 0; good && i < nr; i++)
		good = add_named(&d, names[i]);
	if (good) {
		add_filesystems(&d);
		all = condition(&d);
	}
	free(d.at);
	return all;
}
