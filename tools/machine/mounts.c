// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "machine/host.h"
#include "machine/mounts.h"

/* Takes the next word of a line; NULL after the last. */
static char *word(char **line)
{
	char *text = strsep(line, " ");

	if (text)
		text_unescape(text);
	return text;
}

/* Parses a line: ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG]... - TYPE SOURCE SUPER_OPTIONS */
static bool parse_line(struct mount *m, char *line)
{
	char *id = word(&line), *parent = word(&line), *device = word(&line), *tag;

	if (!device || sscanf(device, "%u:%u", &m->major, &m->minor) != 2)
		return false;
	m->id = strtoull(id, NULL, 10);
	m->parent = strtoull(parent, NULL, 10);
	m->root = word(&line);
	m->point = word(&line);
	m->options = word(&line);
	do {
		tag = word(&line);
	} while (tag && strcmp(tag, "-"));
	m->type = word(&line);
	m->source = word(&line);
	m->super_options = word(&line);
	return m->super_options;
}

int mounts_read(struct mounts *mounts)
{
	char *next, *line;
	size_t room = 0;
	int err;

	*mounts = (struct mounts){ 0 };
	err = host_read("/proc/self/mountinfo", &mounts->text);
	if (err) {
		mounts->text = NULL;
		return err;
	}
	next = mounts->text;
	while ((line = strsep(&next, "\n"))) {
		if (mounts->nr == room) {
			room = 2 * room + 64;
			mounts->at = xreallocarray(mounts->at, room, sizeof(*mounts->at));
		}
		mounts->nr += parse_line(&mounts->at[mounts->nr], line);
	}
	return 0;
}

void mounts_free(struct mounts *mounts)
{
	free(mounts->at);
	free(mounts->text);
	*mounts = (struct mounts){ 0 };
}

const struct mount *mounts_find(const struct mounts *mounts, __u64 id)
{
	size_t i;

	for (i = 0; i < mounts->nr; i++)
		if (mounts->at[i].id == id)
			return &mounts->at[i];
	return NULL;
}

bool mounts_is_below(const char *path, const char *top)
{
	size_t length = strlen(top);

	if (!strcmp(top, "/"))
		return true;
	return !strncmp(path, top, length) && (path[length] == '/' || !path[length]);
}

/* Whether another mount covers the whole of @m. */
static bool is_hidden(const struct mounts *mounts, const struct mount *m)
{
	size_t i;

	for (i = 0; i < mounts->nr; i++)
		if (mounts->at[i].parent == m->id && &mounts->at[i] != m &&
		    !strcmp(mounts->at[i].point, m->point))
			return true;
	return false;
}

/* The directory of the filesystem that a walk from @top enters through @m; NULL if it does not. */
static char *walked_root(const struct mounts *mounts, const struct mount *m, const char *top,
			 __u64 start)
{
	const char *rest;

	if (m->id != start)
		return mounts_is_below(m->point, top) && !is_hidden(mounts, m) ? xstrdup(m->root) : NULL;
	rest = mounts_is_below(top, m->point) ? top + (m->point[1] ? strlen(m->point) : 0) : "";
	if (!rest[0] || !rest[1])
		return xstrdup(m->root);
	return xasprintf("%s%s", m->root[1] ? m->root : "", rest);
}

/* Of two mounts of the same directory, the first in the list is walked. */
bool mounts_is_elsewhere(const struct mounts *mounts, const struct mount *m, const char *top,
			 __u64 start)
{
	bool is = false;
	size_t i;

	for (i = 0; i < mounts->nr && !is; i++) {
		const struct mount *other = &mounts->at[i];
		char *root;

		if (other == m || other->major != m->major || other->minor != m->minor)
			continue;
		root = walked_root(mounts, other, top, start);
		is = root && mounts_is_below(m->root, root) &&
		     (strcmp(m->root, root) || other < m || other->id == start);
		free(root);
	}
	return is;
}

#ifndef RPC_PIPEFS_MAGIC
#define RPC_PIPEFS_MAGIC	0x67596969
#endif
#define FUSECTL_MAGIC		0x65735543
#define CONFIGFS_MAGIC		0x62656570
#define MQUEUE_MAGIC		0x19800202

bool mounts_is_pseudo_magic(__u64 magic)
{
	static const __u64 known[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC, SECURITYFS_MAGIC,
		CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, DEVPTS_SUPER_MAGIC, BPF_FS_MAGIC,
		PSTOREFS_MAGIC, EFIVARFS_MAGIC, CONFIGFS_MAGIC, FUSECTL_MAGIC, MQUEUE_MAGIC,
		BINFMTFS_MAGIC, SELINUX_MAGIC, SMACK_MAGIC, AAFS_MAGIC, AUTOFS_SUPER_MAGIC,
		NSFS_MAGIC, RPC_PIPEFS_MAGIC, OPENPROM_SUPER_MAGIC, RDTGROUP_SUPER_MAGIC,
		BINDERFS_SUPER_MAGIC, PIPEFS_MAGIC, SOCKFS_MAGIC, ANON_INODE_FS_MAGIC,
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (magic == known[i])
			return true;
	return false;
}

/* devtmpfs has the magic of tmpfs, which is not a pseudo filesystem, so it is known by its type. */
bool mounts_is_pseudo_type(const char *type)
{
	static const char *const known[] = {
		"proc", "sysfs", "debugfs", "tracefs", "securityfs", "cgroup", "cgroup2", "devpts",
		"bpf", "pstore", "efivarfs", "configfs", "fusectl", "mqueue", "binfmt_misc",
		"selinuxfs", "smackfs", "autofs", "nsfs", "rpc_pipefs", "resctrl", "binder",
		"devtmpfs",
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(type, known[i]))
			return true;
	return false;
}
