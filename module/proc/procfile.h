/* SPDX-License-Identifier: GPL-2.0 */
/* What all files in /proc/iotracer share: access rights, and commands line by line. */
#ifndef IOT_PROCFILE_H
#define IOT_PROCFILE_H

#include <linux/errno.h>
#include <linux/proc_fs.h>
#include <linux/types.h>
#include "core/visit.h"
#include "proc/access.h"

struct inode;
struct iov_iter;
struct file;
struct kiocb;
struct seq_file;

/**
 * IOT_PROCFILE_OPEN() - define open_checked(), which checks the opener's rights first
 *
 * Files in /proc/iotracer have no other open methods (checked by scripts/lint).
 */
#define IOT_PROCFILE_OPEN(open)							\
	static int open##_checked(struct inode *inode, struct file *file)	\
	{									\
		return iot_access_open(file) ? open(inode, file) : -EACCES;	\
	}

/**
 * IOT_PROCFILE_READ_ITER() - define read_entered(), which counts as a visit of the directory
 *
 * All reads and writes are visits, as they may never return: core/visit.c (checked by
 * scripts/lint).
 */
#define IOT_PROCFILE_READ_ITER(read)						\
	static ssize_t read##_entered(struct kiocb *iocb, struct iov_iter *to)	\
	{									\
		struct iot_visit visit;						\
		ssize_t ret = iot_procfile_enter(&visit, iocb->ki_filp);	\
										\
		if (ret)							\
			return ret;						\
		ret = read(iocb, to);						\
		iot_visit_end(&visit);						\
		return ret;							\
	}

/** IOT_PROCFILE_READ() - as above, for a read method without iterator */
#define IOT_PROCFILE_READ(read)							\
	static ssize_t read##_entered(struct file *file, char __user *buf,	\
				      size_t count, loff_t *ppos)		\
	{									\
		struct iot_visit visit;						\
		ssize_t ret = iot_procfile_enter(&visit, file);			\
										\
		if (ret)							\
			return ret;						\
		ret = read(file, buf, count, ppos);				\
		iot_visit_end(&visit);						\
		return ret;							\
	}

/**
 * IOT_PROCFILE_SHOW() - define name_ops, for a read-only file that name_show() prints
 *
 * name_show() finds the owner of the directory in @private of its seq_file.
 */
#define IOT_PROCFILE_SHOW(name)							\
	static int name##_open(struct inode *inode, struct file *file)		\
	{									\
		return single_open(file, name##_show, iot_procfile_owner(inode));		\
	}									\
										\
	IOT_PROCFILE_OPEN(name##_open)						\
										\
	static const struct proc_ops name##_ops = {				\
		.proc_open = name##_open_checked,				\
		.proc_read_iter = iot_procfile_read_iter,				\
		.proc_lseek = seq_lseek,					\
		.proc_release = single_release,					\
	}

/**
 * IOT_PROCFILE_COMMANDS() - define name_ops, for a file that name_show() prints and that takes
 * commands, of which name_line() runs each
 *
 * Both get the owner of the directory, name_show() by iot_procfile_data().
 */
#define IOT_PROCFILE_COMMANDS(name)						\
	static int name##_open(struct inode *inode, struct file *file)		\
	{									\
		return iot_procfile_open(file, name##_show, name##_line,	\
					 iot_procfile_owner(inode));		\
	}									\
										\
	IOT_PROCFILE_OPEN(name##_open)						\
										\
	static const struct proc_ops name##_ops = {				\
		.proc_open = name##_open_checked,				\
		.proc_read_iter = iot_procfile_read_iter,			\
		.proc_write = iot_procfile_write,				\
		.proc_lseek = seq_lseek,					\
		.proc_release = iot_procfile_release,				\
	}

struct iot_procfile {
	const char *name;
	bool writable;
	const struct proc_ops *ops;
};

/**
 * struct iot_procdir - a directory; stays until its files have been removed
 * @entry:	NULL if it was not created
 * @owner:	the object that its files show
 * @visited:	the tasks that read and write them
 */
struct iot_procdir {
	struct proc_dir_entry *entry;
	void *owner;
	struct iot_visited visited;
};

int iot_procfile_mkdir(struct iot_procdir *dir, const char *name, struct iot_procdir *parent,
		       void *owner);
struct proc_dir_entry *iot_procfile_symlink(const char *name, struct proc_dir_entry *parent,
					    const char *to);
int iot_procfile_create(struct iot_procdir *dir, const struct iot_procfile *files, size_t nr);

/** iot_procfile_owner() - get the owner of the directory that a file is in */
static inline void *iot_procfile_owner(const struct inode *inode)
{
	return ((struct iot_procdir *)pde_data(inode))->owner;
}

int iot_procfile_enter(struct iot_visit *visit, const struct file *file);
ssize_t iot_procfile_read_iter(struct kiocb *iocb, struct iov_iter *to);

int iot_procfile_open(struct file *file, int (*show)(struct seq_file *m, void *v),
		      int (*run)(void *data, char *line), void *data);
void *iot_procfile_data(struct seq_file *m);
ssize_t iot_procfile_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *ppos);
int iot_procfile_release(struct inode *inode, struct file *file);

#endif /* IOT_PROCFILE_H */
