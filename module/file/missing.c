// SPDX-License-Identifier: GPL-2.0
/* Finds the traced directories above a name that leads to no file. */
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/path.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "file/below.h"
#include "file/cached.h"
#include "file/missing.h"
#include "file/paths.h"

/* Names at the end of a text that may lead to nothing. */
#define MISSING_MAX	16

/* Cut the last name off an absolute text, and the slashes before it. Return: false if none. */
static bool cut_name(char *text)
{
	size_t len = strlen(text);

	while (len > 1 && text[len - 1] == '/')
		len--;
	while (len && text[len - 1] != '/')
		len--;
	while (len > 1 && text[len - 1] == '/')
		len--;
	if (!len || !strcmp(text, "/"))
		return false;
	text[len] = '\0';
	return true;
}

/*
 * Find the nearest directory of an absolute text that exists: what the call has just looked up is
 * in memory. Return: names below it, or 0.
 */
static unsigned int find_existing(char *text, struct path *path)
{
	unsigned int names = 0;

	while (names < MISSING_MAX && cut_name(text)) {
		names++;
		if (!iot_cached_find(NULL, text, true, path))
			return names;
	}
	return 0;
}

/* The directories above what is @names names below an existing directory. */
static void find_above(struct iot_below *below, const struct path *path, unsigned int names)
{
	unsigned long bits;
	unsigned int slot;

	iot_below_find(path, below);
	bits = below->roots;
	for_each_set_bit(slot, &bits, IOT_BELOW_MAX)
		if (below->depth[slot] != IOT_BELOW_ELSEWHERE)
			below->depth[slot] += names;
}

/* Join the text of a path, without symbolic links and dots, and the rest of a name. */
static char *join(const struct path *path, const char *rest)
{
	char *buf = kmalloc(PATH_MAX, GFP_NOFS);
	char *joined = NULL, *dir;

	if (!buf)
		return NULL;
	dir = iot_paths_text(path, buf, PATH_MAX);
	rest += strspn(rest, "/");
	if (!IS_ERR(dir) && strlen(dir) + 1 + strlen(rest) < PATH_MAX)
		joined = kasprintf(GFP_NOFS, "%s/%s", strcmp(dir, "/") ? dir : "", rest);
	kfree(buf);
	return joined;
}

/**
 * iot_missing_find() - find the directories that a text that leads to no file is below
 * @text:	absolute
 *
 * Context: task, may sleep for memory: the part of the text that exists is looked for in memory.
 * Return: if it is below any, the text without symbolic links and dots, as far as it exists, for
 * kfree(). NULL else, or if there is no memory.
 */
char *iot_missing_find(const char *text, struct iot_below *below)
{
	char *part, *joined = NULL;
	unsigned int names;
	struct path path;

	iot_below_none(below);
	if (!READ_ONCE(iot_below_any) || *text != '/')
		return NULL;
	part = kstrdup(text, GFP_NOFS);
	names = part ? find_existing(part, &path) : 0;
	if (names) {
		find_above(below, &path, names);
		if (below->roots)
			joined = join(&path, text + strlen(part));
		path_put(&path);
	}
	kfree(part);
	return joined;
}
