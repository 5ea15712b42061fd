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
 * @run:	carries out one line
 * @data:	for @run, and for the function that shows the file
 * @lock:	protects what follows
 * @tail:	start of a line that the next write continues, or NULL
 * @len:	bytes of @tail
 */
struct input {
	int (*run)(void *data, char *line);
	void *data;
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

/** iot_procfile_create() - make files; on error the caller removes the directory */
int iot_procfile_create(struct iot_procdir *dir, const struct iot_procfile *files, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		umode_t mode = iot_param_mode(files[i].writable ? 0666 : 0444);
		struct proc_dir_entry *file;

		file = proc_create_data(files[i].name, mode, dir->entry, files[i].ops, dir);
		if (!file)
			return -ENOMEM;
		proc_set_user(file, iot_param_uid(), iot_param_gid());
	}
	return 0;
}

/** iot_procfile_enter() - begin a read or write of a file: see iot_visit_begin() */
int iot_procfile_enter(struct iot_visit *visit, const struct file *file)
{
	struct iot_procdir *dir = pde_data(file_inode(file));

	return iot_visit_begin(visit, &dir->visited, file);
}

IOT_PROCFILE_READ_ITER(seq_read_iter)

/** iot_procfile_read_iter() - the read method of files that are only shown */
ssize_t iot_procfile_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	return seq_read_iter_entered(iocb, to);
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
			err = in->run(in->data, line);
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

/* The program's memory may never be available: no lock is held while it is copied. */
static ssize_t write_entered(const struct file *file, const char __user *buf, size_t count)
{
	struct input *in = ((struct seq_file *)file->private_data)->private;
	size_t len = min_t(size_t, count, WRITE_MAX);
	char *text = vmemdup_user(buf, len);
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

/**
 * iot_procfile_write() - carry out a write, one command per line
 *
 * The last line need not end in a newline. But if the write is as long as a full buffer, the
 * next write continues the line, or closing the file ends it.
 * Return: bytes carried out, up to the first line that failed; if that is the
 * first line of all, its error. -EPERM: current or the opener may not write. -EIO: the file is
 * being removed.
 */
ssize_t iot_procfile_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *ppos)
{
	struct iot_visit visit;
	ssize_t ret;

	if (!iot_access_write(file))
		return -EPERM;
	ret = iot_procfile_enter(&visit, file);
	if (ret)
		return ret;
	ret = write_entered(file, buf, count);
	iot_visit_end(&visit);
	return ret;
}

/**
 * iot_procfile_open() - open a file that shows something and takes commands
 * @file:	being opened
 * @show:	as for single_open(); finds @data with iot_procfile_data()
 * @run:	carries out one line, which has NUL instead of newline; 0 or an error
 * @data:	for both functions
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
	struct iot_visit visit;
	ssize_t ret;
	char *line;

	if (!may_run_tail(file))
		return -ECANCELED;
	ret = iot_procfile_enter(&visit, file);
	if (ret)
		return ret;
	ret = -ENOMEM;
	line = kvmalloc(in->len + 1, GFP_KERNEL);
	if (line) {
		memcpy(line, in->tail, in->len);
		ret = run_as_opener(in, file, line, in->len, true);
		kvfree(line);
	}
	iot_visit_end(&visit);
	return ret;
}

/* Run the kept line when the file is closed, which cannot fail. */
static void end_tail(struct input *in, const struct file *file)
{
	ssize_t ret = run_tail(in, file);

	if (ret < 0)
		pr_err("the last line of a write failed with error %zd: end it with a newline, so that write() reports it\n",
		       ret);
}

/**
 * iot_procfile_release() - close a file that takes commands
 *
 * Also runs when the file is removed while a descriptor is open, and when a killed program
 * exits.
 */
int iot_procfile_release(struct inode *inode, struct file *file)
{
	struct input *in = ((struct seq_file *)file->private_data)->private;

	if (in->tail)
		end_tail(in, file);
	drop_tail(in);
	mutex_destroy(&in->lock);
	kfree(in);
	return single_release(inode, file);
}
