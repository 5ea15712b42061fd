// SPDX-License-Identifier: GPL-2.0
/* What all files in /proc/iotracer share: access rights, and commands line by line. */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "core/param.h"
#include "proc/access.h"
#include "proc/procfile.h"

/* Most bytes of a write that are handled at once. A longer write is carried out
 * in parts, as after a short write(2). No line can be longer.
 */
#define WRITE_MAX	(64 * 1024)

/* A program that writes through a buffer cuts lines where the buffer is full: after
 * a multiple of this, which stat(2) reports as the block size of a file in /proc.
 */
#define BUFFER_UNIT	1024

/**
 * struct input - an open file that takes commands
 * @run:	carries out one line
 * @data:	for @run, and for the function that shows the file
 * @lock:	protects what follows
 * @tail:	beginning of a line whose rest comes with the next write, or NULL
 * @len:	bytes of @tail
 */
struct input {
	int (*run)(void *data, char *line);
	void *data;
	struct mutex lock;	/* protects tail and len */
	char *tail;
	size_t len;
};

/** iot_procfile_mkdir() - make a directory with the owner and mode of the parameters proc_* */
struct proc_dir_entry *iot_procfile_mkdir(const char *name,
					  struct proc_dir_entry *parent)
{
	umode_t mode = iot_param_mode(0444);
	struct proc_dir_entry *dir;

	dir = proc_mkdir_mode(name, mode | mode >> 2, parent);
	if (dir)
		proc_set_user(dir, iot_param_uid(), iot_param_gid());
	return dir;
}

/** iot_procfile_create() - make files; on error the caller removes the directory */
int iot_procfile_create(const struct iot_procfile *files, size_t nr,
			struct proc_dir_entry *dir, void *data)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		umode_t mode = iot_param_mode(files[i].writable ? 0666 : 0444);
		struct proc_dir_entry *file;

		file = proc_create_data(files[i].name, mode, dir, files[i].ops,
					data);
		if (!file)
			return -ENOMEM;
		proc_set_user(file, iot_param_uid(), iot_param_gid());
	}
	return 0;
}

/*
 * Run the lines of a text.
 * @whole: the end of the text ends a line, even without newline
 * Return: bytes carried out, up to the first line that failed; if that is the
 * first, its error.
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
		if (strlen(line) != end - line)
			err = -EINVAL; /* a NUL in the line */
		else
			err = in->run(in->data, line);
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

/* Keep the beginning of a line for the next write. */
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

/* Carry out a write of @len bytes, after @old kept ones in @text. Return: as write(2). */
static ssize_t take(struct input *in, const struct file *file, char *text, size_t old,
		    size_t len, bool whole)
{
	ssize_t done = run_as_opener(in, file, text, old + len, whole);
	size_t rest = old + len - done;
	int err = 0;

	if (done < 0)
		return done;
	/* a rest with a newline begins with the line that failed */
	if (!whole && !memchr(text + done, '\n', rest)) {
		err = keep_tail(in, text + done, rest);
		if (!err)
			return len;
	}
	return done > old ? done - old : err;
}

/**
 * iot_procfile_write() - carry out a write, one command per line
 *
 * The last line need not end in a newline. But if the write is exactly as long as a full
 * buffer, the line continues in the next write, or ends when the file is closed.
 * Return: bytes carried out, up to the first line that failed; if that is the
 * first line of all, its error. -EPERM: current or the opener may not.
 */
ssize_t iot_procfile_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *ppos)
{
	struct input *in = ((struct seq_file *)file->private_data)->private;
	size_t len = min_t(size_t, count, WRITE_MAX);
	ssize_t ret = -EFAULT;
	size_t old;
	char *text;

	if (!iot_access_write(file))
		return -EPERM;
	if (mutex_lock_killable(&in->lock))
		return -EINTR;
	old = in->len;
	text = kvmalloc(old + len + 1, GFP_KERNEL);
	if (!text) {
		ret = -ENOMEM;
		goto unlock;
	}
	if (!copy_from_user(text + old, buf, len)) {
		memcpy(text, in->tail, old);
		drop_tail(in);
		ret = take(in, file, text, old, len, len == count && count % BUFFER_UNIT);
	}
	kvfree(text);
unlock:
	mutex_unlock(&in->lock);
	return ret;
}

/**
 * iot_procfile_open() - open a file that shows something and takes commands
 * @file:	being opened
 * @show:	as for single_open(); finds @data with iot_procfile_data()
 * @run:	carries out one line, which has NUL instead of newline; 0 or an error
 * @data:	for both
 */
int iot_procfile_open(struct file *file, int (*show)(struct seq_file *m, void *v),
		      int (*run)(void *data, char *line), void *data)
{
	struct input *in = kzalloc(sizeof(*in), GFP_KERNEL);
	int err;

	if (!in)
		return -ENOMEM;
	in->run = run;
	in->data = data;
	mutex_init(&in->lock);
	err = single_open(file, show, in);
	if (err)
		kfree(in);
	return err;
}

/** iot_procfile_data() - get the @data that iot_procfile_open() was given */
void *iot_procfile_data(struct seq_file *m)
{
	return ((struct input *)m->private)->data;
}

/*
 * A task that exits, or exited long ago, does not show that the line is whole. A command
 * that was cut off may be another command, and there is no root to look its path up from.
 * Nor is the line carried out with the rights of a task that happens to close the file last.
 */
static bool may_run_tail(const struct file *file)
{
	return current->fs && !(current->flags & (PF_EXITING | PF_KTHREAD)) &&
	       current_cred() == file->f_cred && iot_access_write(file);
}

/* Run a line that no other write has ended. Closing cannot fail. */
static void run_tail(struct input *in, const struct file *file)
{
	bool may = may_run_tail(file);
	char *line = may ? kvmalloc(in->len + 1, GFP_KERNEL) : NULL;
	ssize_t ret = may ? -ENOMEM : -ECANCELED;

	if (line) {
		memcpy(line, in->tail, in->len);
		ret = run_as_opener(in, file, line, in->len, true);
		kvfree(line);
	}
	if (ret < 0)
		pr_err("the last line of a write failed with error %zd: end it with a newline, so that write() reports it\n",
		       ret);
}

/**
 * iot_procfile_release() - close it
 *
 * Also runs when the file is removed while a descriptor is open, and when a killed program
 * exits.
 */
int iot_procfile_release(struct inode *inode, struct file *file)
{
	struct input *in = ((struct seq_file *)file->private_data)->private;

	if (in->tail)
		run_tail(in, file);
	drop_tail(in);
	mutex_destroy(&in->lock);
	kfree(in);
	return single_release(inode, file);
}
