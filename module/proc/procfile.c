// SPDX-License-Identifier: GPL-2.0
/*
 * Common parts of all files in /proc/iotracer: access rights, visits, and commands line by line.
 *
 * The kernel calls the functions at the end of this file, and no others (checked by scripts/lint).
 * Each first checks the access rights, if it has to, and is a visit of the file's directory: it may
 * take forever, because it may wait for the program's memory, or for another task.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "core/param.h"
#include "proc/access.h"
#include "proc/poller.h"
#include "proc/procfile.h"

/* Most bytes of a write that are handled at once. A longer write returns this, and the
 * program writes the rest. No line can be longer.
 */
#define WRITE_MAX	(64 * 1024)

/* A program that writes through a buffer splits lines where the buffer is full: after a
 * multiple of this, which stat(2) reports as the block size of a file in /proc.
 */
#define BUFFER_UNIT	1024

/**
 * struct input - an open file that takes commands
 * @line:	carries out one line
 * @owner:	for @line
 * @lock:	protects what follows
 * @tail:	start of a line that the next write continues, or NULL
 * @len:	bytes of @tail
 */
struct input {
	int (*line)(void *owner, char *line);
	void *owner;
	struct mutex lock;	/* protects tail and len */
	char *tail;
	size_t len;
};

/**
 * iot_procfile_mkdir() - make a directory with the user and mode of the parameters proc_*
 * @dir:	zeroed
 * @parent:	NULL for /proc
 * @owner:	what its files show
 *
 * Return: 0 or -ENOMEM.
 */
int iot_procfile_mkdir(struct iot_procdir *dir, const char *name, struct iot_procdir *parent,
		       void *owner)
{
	umode_t mode = iot_param_mode(0444);

	dir->owner = owner;
	dir->entry = proc_mkdir_mode(name, mode | mode >> 2, parent ? parent->entry : NULL);
	if (!dir->entry)
		return -ENOMEM;
	proc_set_user(dir->entry, iot_param_uid(), iot_param_gid());
	return 0;
}

/** iot_procfile_symlink() - make a symbolic link, whose target decides who may use it */
struct proc_dir_entry *iot_procfile_symlink(const char *name, struct proc_dir_entry *parent,
					    const char *to)
{
	return proc_symlink(name, parent, to);
}

/** iot_procfile_shown() - get the owner of the directory of a file that is printed */
void *iot_procfile_shown(const struct seq_file *m)
{
	return iot_procfile_owner(file_inode(m->file));
}

/*
 * Blanks at the end of a line are not part of the command: scripts write them where a variable
 * is empty. A blank at the end of a path or name is written as \040.
 */
static void drop_blanks(const char *line, char *end)
{
	while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
}

/*
 * Run the lines of a text.
 * @whole: the text ends with a complete line, even without newline
 * Return: bytes carried out, up to the first line that failed; if that is the first line, its
 * error.
 */
static ssize_t run_lines(const struct input *in, char *text, size_t len, bool whole)
{
	size_t done = 0;
	int err;

	while (done < len) {
		char *line = text + done;
		char *end = memchr(line, '\n', len - done);

		if (!end && !whole)
			break;
		if (!end)
			end = text + len;
		*end = '\0';
		if (strlen(line) != end - line) {
			err = -EINVAL; /* there is a NUL in the line */
		} else {
			drop_blanks(line, end);
			err = in->line(in->owner, line);
		}
		if (err)
			return done ?: err;
		done = min_t(size_t, end + 1 - text, len);
	}
	return done;
}

/*
 * As above, with the opener's credentials. So a task that was tricked into writing to a
 * descriptor that another task opened does nothing that the opener could not do. Paths are
 * still looked up from the writer's root and working directory.
 */
static ssize_t run_as_opener(const struct input *in, const struct file *file, char *text,
			     size_t len, bool whole)
{
	const struct cred *old = override_creds(file->f_cred);
	ssize_t ret = run_lines(in, text, len, whole);

	revert_creds(old);
	return ret;
}

/* Keep the start of a line for the next write. */
static int keep_tail(struct input *in, const char *tail, size_t len)
{
	if (len >= WRITE_MAX)
		return -ENAMETOOLONG;
	if (!len)
		return 0;
	in->tail = kvmalloc(len, GFP_KERNEL);
	if (!in->tail)
		return -ENOMEM;
	memcpy(in->tail, tail, len);
	in->len = len;
	return 0;
}

static void drop_tail(struct input *in)
{
	kvfree(in->tail);
	in->tail = NULL;
	in->len = 0;
}

/* Carry out a write of @len bytes, which follow @old kept bytes in @text. Return: as write(2). */
static ssize_t take(struct input *in, const struct file *file, char *text, size_t old,
		    size_t len, bool whole)
{
	ssize_t done = run_as_opener(in, file, text, old + len, whole);
	size_t rest = old + len - done;
	int err = 0;

	if (done < 0)
		return done;
	/* if the rest has a newline, its first line has failed */
	if (!whole && !memchr(text + done, '\n', rest)) {
		err = keep_tail(in, text + done, rest);
		if (!err)
			return len;
	}
	return done > old ? done - old : err;
}

/* Carry out @text, after the kept start of its first line. Context: the lock is held. */
static ssize_t take_text(struct input *in, const struct file *file, const char *text,
			 size_t len, bool whole)
{
	size_t old = in->len;
	char *joined = kvmalloc(old + len + 1, GFP_KERNEL);
	ssize_t ret;

	if (!joined)
		return -ENOMEM;
	memcpy(joined, in->tail, old);
	memcpy(joined + old, text, len);
	drop_tail(in);
	ret = take(in, file, joined, old, len, whole);
	kvfree(joined);
	return ret;
}

/*
 * Carry out a write, one command per line. The last line need not end in a newline. But if the
 * write is as long as a full buffer, the next write continues the line, or closing the file ends
 * it. Return: bytes carried out, up to the first line that failed; if that is the first line of
 * all, its error.
 */
static ssize_t write(const struct file *file, const char __user *buf, size_t count)
{
	struct input *in = ((struct seq_file *)file->private_data)->private;
	size_t len = min_t(size_t, count, WRITE_MAX);
	char *text = vmemdup_user(buf, len); /* no lock is held: it may never be available */
	ssize_t ret = -EINTR;

	if (IS_ERR(text))
		return PTR_ERR(text);
	if (!mutex_lock_killable(&in->lock)) {
		ret = take_text(in, file, text, len, len == count && count % BUFFER_UNIT);
		mutex_unlock(&in->lock);
	}
	kvfree(text);
	return ret;
}

/*
 * May closing the file carry out a line without newline? Not if the task is exiting: the line
 * may be cut off, and would then be another command; and there is no root to look up its path
 * from. Nor if another task than the opener closes the file last, as the line must not run with
 * its rights.
 */
static bool may_run_tail(const struct file *file)
{
	return current->fs && !(current->flags & (PF_EXITING | PF_KTHREAD)) &&
	       current_cred() == file->f_cred && iot_access_write(file);
}

/* Run the kept line, which no write has ended. Return: bytes or an error. */
static ssize_t run_tail(struct input *in, const struct file *file)
{
	ssize_t ret = -ENOMEM;
	char *line;

	if (!may_run_tail(file))
		return -ECANCELED;
	line = kvmalloc(in->len + 1, GFP_KERNEL);
	if (line) {
		memcpy(line, in->tail, in->len);
		ret = run_as_opener(in, file, line, in->len, true);
		kvfree(line);
	}
	return ret;
}

/* Run the kept line when the file is closed. @err: why it is not run, or 0 */
static void end_tail(struct input *in, const struct file *file, int err)
{
	ssize_t ret = err ?: run_tail(in, file);

	if (ret < 0)
		pr_err("the last line of a write failed with error %zd: end it with a newline, so that write() reports it\n",
		       ret);
}

/* Files that are printed */

static int open_shown(const struct iot_procnode *node, struct file *file)
{
	struct input *in = NULL;
	int err;

	if (node->file->line) {
		in = kzalloc(sizeof(*in), GFP_KERNEL);
		if (!in)
			return -ENOMEM;
		in->line = node->file->line;
		in->owner = node->dir->owner;
		mutex_init(&in->lock);
	}
	err = single_open(file, node->file->show, in);
	if (err)
		kfree(in);
	return err;
}

/* @err: why the release is no visit, or 0 */
static int release_shown(struct inode *inode, struct file *file, int err)
{
	struct input *in = ((struct seq_file *)file->private_data)->private;

	if (in) {
		if (in->tail)
			end_tail(in, file, err);
		drop_tail(in);
		mutex_destroy(&in->lock);
		kfree(in);
	}
	return single_release(inode, file);
}

/* What the kernel calls */

static int enter(struct iot_visit *visit, const struct iot_procnode *node,
		 const struct file *file)
{
	return iot_visit_begin(visit, &node->dir->visited, file);
}

static const struct iot_procnode *node_of(const struct file *file)
{
	return pde_data(file_inode(file));
}

/* As from the kernel, a file that is being removed is not there any more. */
static int open_visit(struct inode *inode, struct file *file)
{
	const struct iot_procnode *node = node_of(file);
	struct iot_visit visit;
	int err;

	if (!iot_access_open(file))
		return -EACCES;
	err = enter(&visit, node, file);
	if (err)
		return err == -EIO ? -ENOENT : err;
	if (node->file->show)
		err = open_shown(node, file);
	else
		err = node->file->ops->open(inode, file);
	iot_visit_end(&visit);
	return err;
}

/*
 * Closing cannot fail. It goes on if it is no visit: the file is being removed, also by the kernel
 * for those that still have it open, or current is being killed while the module may be unloaded.
 */
static int release_visit(struct inode *inode, struct file *file)
{
	const struct iot_procnode *node = node_of(file);
	struct iot_visit visit;
	int err = enter(&visit, node, file), ret;

	if (node->file->show)
		ret = release_shown(inode, file, err);
	else
		ret = node->file->ops->release(inode, file);
	if (!err)
		iot_visit_end(&visit);
	return ret;
}

static ssize_t read_iter_visit(struct kiocb *iocb, struct iov_iter *to)
{
	const struct iot_procnode *node = node_of(iocb->ki_filp);
	struct iot_visit visit;
	ssize_t ret = enter(&visit, node, iocb->ki_filp);

	if (ret)
		return ret;
	if (node->file->show)
		ret = seq_read_iter(iocb, to);
	else
		ret = node->file->ops->read_iter(iocb, to);
	iot_visit_end(&visit);
	return ret;
}

static ssize_t read_visit(struct file *file, char __user *buf, size_t count, loff_t *ppos)
{
	const struct iot_procnode *node = node_of(file);
	struct iot_visit visit;
	ssize_t ret = enter(&visit, node, file);

	if (ret)
		return ret;
	ret = node->file->ops->read(file, buf, count, &visit);
	iot_visit_end(&visit);
	return ret;
}

/* -EPERM: current or the opener may not write. */
static ssize_t write_visit(struct file *file, const char __user *buf, size_t count, loff_t *ppos)
{
	struct iot_visit visit;
	ssize_t ret;

	if (!iot_access_write(file))
		return -EPERM;
	ret = enter(&visit, node_of(file), file);
	if (ret)
		return ret;
	ret = write(file, buf, count);
	iot_visit_end(&visit);
	return ret;
}

/* It prints the file up to the new position, as a read does. */
static loff_t lseek_visit(struct file *file, loff_t offset, int whence)
{
	struct iot_visit visit;
	loff_t ret = enter(&visit, node_of(file), file);

	if (ret)
		return ret;
	ret = seq_lseek(file, offset, whence);
	iot_visit_end(&visit);
	return ret;
}

/* If it is no visit, the next read reports that the file is gone, or a signal ends the poll. */
static __poll_t poll_visit(struct file *file, struct poll_table_struct *wait)
{
	const struct iot_procnode *node = node_of(file);
	struct iot_visit visit;
	__poll_t found;
	int err;

	iot_poller_wait(file, wait);
	err = enter(&visit, node, file);
	if (err)
		return err == -EIO ? EPOLLIN | EPOLLRDNORM | EPOLLHUP : 0;
	found = node->file->ops->poll(file);
	iot_visit_end(&visit);
	return found;
}

static const struct proc_ops shown_ops = {
	.proc_open = open_visit,
	.proc_read_iter = read_iter_visit,
	.proc_lseek = lseek_visit,
	.proc_release = release_visit,
};

static const struct proc_ops command_ops = {
	.proc_open = open_visit,
	.proc_read_iter = read_iter_visit,
	.proc_write = write_visit,
	.proc_lseek = lseek_visit,
	.proc_release = release_visit,
};

static const struct proc_ops stream_ops = {
	.proc_open = open_visit,
	.proc_read = read_visit,
	.proc_poll = poll_visit,
	.proc_lseek = noop_llseek,
	.proc_release = release_visit,
};

static const struct proc_ops *ops_of(const struct iot_procfile *file)
{
	if (file->ops && file->ops->read)
		return &stream_ops;
	return file->line ? &command_ops : &shown_ops;
}

/** iot_procfile_create() - make files; on error the caller removes the directory */
int iot_procfile_create(struct iot_procdir *dir, const struct iot_procfile *files, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		umode_t mode = iot_param_mode(files[i].line ? 0666 : 0444);
		struct iot_procnode *node = &dir->nodes[dir->nr];
		struct proc_dir_entry *entry;

		if (WARN_ON(dir->nr == IOT_PROCDIR_FILES))
			return -ENOSPC;
		dir->nr++;
		node->file = &files[i];
		node->dir = dir;
		entry = proc_create_data(files[i].name, mode, dir->entry, ops_of(&files[i]), node);
		if (!entry)
			return -ENOMEM;
		proc_set_user(entry, iot_param_uid(), iot_param_gid());
	}
	return 0;
}
