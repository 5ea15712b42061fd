// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/iotracer: control, hooks, format, and a folder for each target.
 *
 * One lock serialises commands and the list of targets. No file of a target
 * takes it, so removing a target's folder, which waits for those who are in its
 * files, is safe under the lock.
 */
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/namei.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "compat/compat.h"
#include "category.h"
#include "control.h"
#include "format.h"
#include "hook.h"
#include "log.h"
#include "param.h"
#include "path.h"
#include "paths.h"
#include "poller.h"
#include "procfile.h"
#include "target.h"

static DEFINE_MUTEX(control_lock);
static struct proc_dir_entry *root;
static bool leaving;	/* the module is: no more commands */

/* What may be traced, and by whom. */
static int check_file(const struct path *path)
{
	struct inode *inode = d_inode(path->dentry);

	if (S_ISDIR(inode->i_mode))
		return -EISDIR;
	if (!S_ISREG(inode->i_mode) && !S_ISBLK(inode->i_mode))
		return -EOPNOTSUPP;
	return iot_inode_permission(path->mnt, inode, MAY_READ);
}

static int create_target(const struct path *path, const char *text, u64 max_events)
{
	struct iot_target *t = iot_target_create(path, max_events);
	int err;

	if (IS_ERR(t))
		return PTR_ERR(t);
	err = iot_target_add_link(t, text);
	if (!err)
		err = iot_log_create(t, root);
	if (err)
		iot_target_remove(t);
	return err;
}

/* max_events 0: not given */
static int add_to(struct iot_target *t, const char *text, u64 max_events)
{
	struct iot_link *old = iot_target_link(t, text);
	struct iot_link *new;
	int err;

	err = iot_target_add_link(t, text);
	if (err || !max_events)
		return err;
	err = iot_target_resize(t, max_events);
	new = iot_target_link(t, text);
	if (err && !old) {
		list_del(&new->list);
		kfree(new);
	}
	return err;
}

static int add_path(const struct path *path, u64 max_events)
{
	struct iot_target *t;
	char *buf, *text;
	int err;

	err = check_file(path);
	if (err)
		return err;
	buf = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	text = iot_path_text(path, buf);
	if (IS_ERR(text)) {
		err = PTR_ERR(text);
		goto free_buf;
	}
	t = iot_target_lookup(d_inode(path->dentry));
	if (t)
		err = add_to(t, text, max_events);
	else
		err = create_target(path, text, max_events ?: iot_param_max_events());
free_buf:
	kfree(buf);
	return err;
}

/*
 * A command's text is one path, spaces and all. If that names nothing but the
 * part before some space does, what follows is garbage and not a name.
 * @known: 1, 0 or -ENOMEM
 */
static int why_missing(const char *raw, int (*known)(const char *text))
{
	char *text = kstrdup(raw, GFP_KERNEL);
	int err = text ? -ENOENT : -ENOMEM;
	char *space;

	while (err == -ENOENT && (space = strrchr(text, ' '))) {
		char *part;
		int ret;

		*space = '\0';
		if (!*text)
			break;
		part = kstrdup(text, GFP_KERNEL);
		if (!part)
			ret = -ENOMEM;
		else
			ret = iot_path_unescape(part) ? 0 : known(part);
		kfree(part);
		if (ret)
			err = ret < 0 ? ret : -EINVAL;
	}
	kfree(text);
	return err;
}

static int is_file(const char *text)
{
	struct path path;
	int err = iot_path_lookup(text, &path);

	if (err)
		return err == -ENOMEM ? err : 0;
	path_put(&path);
	return 1;
}

/*
 * Split " <digits>" off the end of a command, if it ends so.
 * Return: 0, or -EINVAL: 0 or not a number of 64 bits.
 */
static int split_number(char *text, u64 *number)
{
	char *space = strrchr(text, ' ');

	*number = 0;
	if (!space || !space[1] || strspn(space + 1, "0123456789") != strlen(space + 1))
		return 0;
	if (kstrtou64(space + 1, 10, number) || !*number)
		return -EINVAL;
	*space = '\0';
	return 0;
}

static int add(char *text)
{
	struct path path;
	u64 max_events;
	char *raw;
	int err;

	err = split_number(text, &max_events);
	if (err)
		return err;
	raw = kstrdup(text, GFP_KERNEL);
	if (!raw)
		return -ENOMEM;
	err = *text ? iot_path_unescape(text) : -EINVAL;
	if (!err)
		err = iot_path_lookup(text, &path);
	if (!err) {
		err = add_path(&path, max_events);
		path_put(&path);
	} else if (err == -ENOENT || err == -ENOTDIR) {
		err = why_missing(raw, is_file);
	}
	kfree(raw);
	return err;
}

static void remove_link(struct iot_target *t, struct iot_link *link)
{
	list_del(&link->list);
	kfree(link);
	if (!list_empty(&t->links))
		return;
	iot_log_remove(t);
	iot_target_remove(t);
}

struct link_search {
	const char *text;
	struct iot_target *t;
	struct iot_link *link;
};

static void match_link(struct iot_target *t, void *data)
{
	struct link_search *search = data;

	if (search->link)
		return;
	search->link = iot_target_link(t, search->text);
	search->t = t;
}

/* The target that is listed under exactly this path. */
static struct iot_link *find_link(const char *text, struct iot_target **t)
{
	struct link_search search = { .text = text };

	iot_target_for_each(match_link, &search);
	*t = search.t;
	return search.link;
}

/*
 * A link of the target whose path does not lead to the file any more; NULL, or
 * -ENOMEM: that could not be found out.
 */
static struct iot_link *stale_link(struct iot_target *t, struct inode *inode)
{
	struct iot_link *link;
	struct path path;

	list_for_each_entry(link, &t->links, list) {
		int err = iot_path_lookup(link->path, &path);
		bool stale = true;

		if (err == -ENOMEM)
			return ERR_PTR(err);
		if (!err) {
			stale = d_inode(path.dentry) != inode;
			path_put(&path);
		}
		if (stale)
			return link;
	}
	return NULL;
}

/* The link that is listed under exactly this path, @inode's if there are more. */
static struct iot_link *listed_link(const char *text, struct inode *inode,
				    struct iot_target **t)
{
	struct iot_link *link;

	*t = iot_target_lookup(inode);
	link = *t ? iot_target_link(*t, text) : NULL;
	return link ?: find_link(text, t);
}

/*
 * The link that @text, which leads to @path, stands for: as it is listed, though
 * another file may be there now, or as the path is without links and dots; or, if
 * the file was renamed since it was added, the one that it has left behind.
 */
static struct iot_link *link_of_path(const char *text, const struct path *path,
				     char *buf, struct iot_target **t)
{
	struct inode *inode = d_inode(path->dentry);
	char *abs = iot_path_text(path, buf);
	struct iot_link *link = listed_link(text, inode, t);

	if (!link && !IS_ERR(abs))
		link = listed_link(abs, inode, t);
	if (link)
		return link;
	*t = iot_target_lookup(inode);
	return *t ? stale_link(*t, inode) : NULL;
}

/* The link that is listed under the absolute path of a name that is not there. */
static struct iot_link *link_of_vanished(const char *text, char *buf,
					 struct iot_target **t)
{
	char *abs = iot_path_vanished(text, buf);

	if (IS_ERR(abs))
		return abs == ERR_PTR(-ENOMEM) ? ERR_CAST(abs) : NULL;
	return find_link(abs, t);
}

/*
 * The link that a text stands for, whether the file is still there or not; NULL,
 * or -ENOMEM.
 */
static struct iot_link *link_of_text(const char *text, struct iot_target **t)
{
	struct iot_link *link;
	struct path path;
	char *buf;
	int err;

	buf = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!buf)
		return ERR_PTR(-ENOMEM);
	err = iot_path_lookup(text, &path);
	if (!err) {
		link = link_of_path(text, &path, buf, t);
		path_put(&path);
	} else {
		link = err == -ENOMEM ? ERR_PTR(err) : link_of_vanished(text, buf, t);
	}
	if (!link)
		link = find_link(text, t);
	kfree(buf);
	return link;
}

static int is_listed(const char *text)
{
	struct iot_target *t;
	struct iot_link *link = link_of_text(text, &t);

	return IS_ERR(link) ? PTR_ERR(link) : !!link;
}

static int remove(char *text)
{
	struct iot_link *link;
	struct iot_target *t;
	char *raw;
	int err;

	if (strlen(text) >= 4 * PATH_MAX)
		return -ENAMETOOLONG;
	raw = kstrdup(text, GFP_KERNEL);
	if (!raw)
		return -ENOMEM;
	err = *text ? iot_path_unescape(text) : -EINVAL;
	if (!err && strlen(text) >= PATH_MAX)
		err = -ENAMETOOLONG;
	if (err)
		goto free_raw;
	link = link_of_text(text, &t);
	if (IS_ERR(link))
		err = PTR_ERR(link);
	else if (link)
		remove_link(t, link);
	else
		err = why_missing(raw, is_listed);
free_raw:
	kfree(raw);
	return err;
}

static int control_line(void *data, char *line)
{
	int err = -EINVAL;

	if (mutex_lock_killable(&control_lock))
		return -EINTR;
	if (leaving)
		err = -ENODEV;
	else if (!strncmp(line, "add ", 4))
		err = add(line + 4);
	else if (!strncmp(line, "remove ", 7))
		err = remove(line + 7);
	mutex_unlock(&control_lock);
	return err;
}

static void show_target(struct iot_target *t, void *data)
{
	struct seq_file *m = data;
	struct iot_link *link;

	iot_path_escape(m, t->name);
	list_for_each_entry(link, &t->links, list) {
		seq_putc(m, ' ');
		iot_path_escape(m, link->path);
	}
	seq_putc(m, '\n');
}

static int control_show(struct seq_file *m, void *v)
{
	if (mutex_lock_killable(&control_lock))
		return -EINTR;
	iot_target_for_each(show_target, m);
	mutex_unlock(&control_lock);
	return 0;
}

static int control_open(struct inode *inode, struct file *file)
{
	return iot_procfile_open(file, control_show, control_line, NULL);
}

static const struct proc_ops control_ops = {
	.proc_open = control_open,
	.proc_read_iter = seq_read_iter,
	.proc_write = iot_procfile_write,
	.proc_lseek = seq_lseek,
	.proc_release = iot_procfile_release,
};

static int hooks_show(struct seq_file *m, void *v)
{
	iot_hook_show(m);
	return 0;
}

static int hooks_open(struct inode *inode, struct file *file)
{
	return single_open(file, hooks_show, NULL);
}

static const struct proc_ops hooks_ops = {
	.proc_open = hooks_open,
	.proc_read_iter = seq_read_iter,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int format_show(struct seq_file *m, void *v)
{
	iot_format_show(m);
	return 0;
}

static int format_open(struct inode *inode, struct file *file)
{
	return single_open(file, format_show, NULL);
}

static const struct proc_ops format_ops = {
	.proc_open = format_open,
	.proc_read_iter = seq_read_iter,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static const struct iot_procfile files[] = {
	{ "control", true, &control_ops },
	{ "hooks", false, &hooks_ops },
	{ "format", false, &format_ops },
	{ "paths", false, &iot_paths_ops },
};

/** iot_control_has() - is this the name of something that is no target? */
bool iot_control_has(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++)
		if (!strcmp(files[i].name, name))
			return true;
	return iot_category_has(name);
}

int iot_control_init(void)
{
	root = iot_procfile_mkdir("iotracer", NULL);
	if (!root)
		return -ENOMEM;
	if (iot_procfile_create(files, ARRAY_SIZE(files), root, NULL) ||
	    iot_category_init(root)) {
		proc_remove(root);
		iot_poller_exit();
		return -ENOMEM;
	}
	return 0;
}

/** iot_control_exit() - remove /proc/iotracer, and wait for who is in it */
void iot_control_exit(void)
{
	mutex_lock(&control_lock);
	leaving = true;
	mutex_unlock(&control_lock);
	proc_remove(root);
	iot_poller_exit();
}
