// SPDX-License-Identifier: GPL-2.0
/* Paths as users write and read them. */
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/namei.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "core/escape.h"
#include "file/path.h"

static bool is_octal(const char *s)
{
	return s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' &&
	       s[2] >= '0' && s[2] <= '7';
}

/**
 * iot_path_unescape() - unescape in place: \ooo (001 to 377) becomes a byte
 *
 * A backslash before anything else stands for itself.
 * Return: 0, or -EINVAL for \000, which no path can hold.
 */
int iot_path_unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '\\' && is_octal(text + 1)) {
			*to = (text[1] - '0') << 6 | (text[2] - '0') << 3 |
			      (text[3] - '0');
			if (!*to++)
				return -EINVAL;
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
	return 0;
}

/** iot_path_escape() - print a path as one word that can be written back */
void iot_path_escape(struct seq_file *m, const char *text)
{
	iot_escape(m, text, strlen(text), " ");
}

/**
 * iot_path_lookup() - look up the file that a path names, following symbolic links
 *
 * Relative paths start at the working directory of the current task, whose permissions to
 * search apply. Return: 0 or an error of the lookup; after 0, path_put() @path.
 */
int iot_path_lookup(const char *text, struct path *path)
{
	return kern_path(text, LOOKUP_FOLLOW, path);
}

/**
 * iot_path_text() - get the absolute path as the current task sees it
 * @path:	the file
 * @buf:	PATH_MAX bytes
 *
 * Return: the text, somewhere in @buf, or an error: -ENAMETOOLONG, or -ENOENT if the file has
 * been deleted.
 */
char *iot_path_text(const struct path *path, char *buf)
{
	if (d_unlinked(path->dentry))
		return ERR_PTR(-ENOENT);
	return d_path(path, buf, PATH_MAX);
}

/*
 * Get the absolute path of a name that does not exist, but whose directory does. @buf has PATH_MAX
 * bytes. Return: the text in @buf, or an error of looking up the directory.
 */
static char *vanished(const char *text, char *buf)
{
	const char *slash = strrchr(text, '/');
	const char *name = slash ? slash + 1 : text;
	char *parent, *dir;
	struct path path;
	int err;

	if (!slash)
		parent = kstrdup(".", GFP_KERNEL);
	else
		parent = kmemdup_nul(text, max_t(size_t, slash - text, 1), GFP_KERNEL);
	if (!parent)
		return ERR_PTR(-ENOMEM);
	err = iot_path_lookup(parent, &path);
	kfree(parent);
	if (err)
		return ERR_PTR(err);
	dir = iot_path_text(&path, buf);
	path_put(&path);
	if (IS_ERR(dir))
		return dir;
	if (!strcmp(dir, "/"))
		dir++;
	if (strlen(dir) + 1 + strlen(name) >= PATH_MAX)
		return ERR_PTR(-ENAMETOOLONG);
	memmove(buf, dir, strlen(dir) + 1);
	strcat(buf, "/");
	return strcat(buf, name);
}

/**
 * iot_named_get() - look up what a path in a command means
 *
 * A filesystem on the way may not answer for ever, so no lock may be held, and this is done once
 * for a command. Context: task. Return: 0, also if it leads to nothing; or -ENOMEM.
 */
int iot_named_get(struct iot_named *n, const char *text)
{
	int err;

	n->text = text;
	n->inode = NULL;
	n->buf = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!n->buf)
		return -ENOMEM;
	err = iot_path_lookup(text, &n->path);
	if (!err)
		n->inode = d_inode(n->path.dentry);
	if (err != -ENOMEM)
		n->absolute = n->inode ? iot_path_text(&n->path, n->buf) : vanished(text, n->buf);
	if (err != -ENOMEM && n->absolute != ERR_PTR(-ENOMEM))
		return 0;
	iot_named_put(n);
	return -ENOMEM;
}

/** iot_named_put() - undo iot_named_get(). Context: task, no lock is held */
void iot_named_put(struct iot_named *n)
{
	if (n->inode)
		path_put(&n->path);
	kfree(n->buf);
}
