/* SPDX-License-Identifier: GPL-2.0 */
/* What all files in /proc/iotracer share: access rights, and commands line by line. */
#ifndef IOT_PROCFILE_H
#define IOT_PROCFILE_H

#include <linux/errno.h>
#include <linux/types.h>
#include "proc/access.h"

struct inode;
struct file;
struct proc_dir_entry;
struct proc_ops;
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
 * IOT_PROCFILE_SHOW() - define name_ops, for a read-only file that name_show() prints
 *
 * name_show() finds the data that the file was created with in @private of its seq_file.
 */
#define IOT_PROCFILE_SHOW(name)							\
	static int name##_open(struct inode *inode, struct file *file)		\
	{									\
		return single_open(file, name##_show, pde_data(inode));		\
	}									\
										\
	IOT_PROCFILE_OPEN(name##_open)						\
										\
	static const struct proc_ops name##_ops = {				\
		.proc_open = name##_open_checked,				\
		.proc_read_iter = seq_read_iter,				\
		.proc_lseek = seq_lseek,					\
		.proc_release = single_release,					\
	}

struct iot_procfile {
	const char *name;
	bool writable;
	const struct proc_ops *ops;
};

struct proc_dir_entry *iot_procfile_mkdir(const char *name,
					  struct proc_dir_entry *parent);
int iot_procfile_create(const struct iot_procfile *files, size_t nr,
			struct proc_dir_entry *dir, void *data);

int iot_procfile_open(struct file *file, int (*show)(struct seq_file *m, void *v),
		      int (*run)(void *data, char *line), void *data);
void *iot_procfile_data(struct seq_file *m);
ssize_t iot_procfile_write(struct file *file, const char __user *buf,
			   size_t count, loff_t *ppos);
int iot_procfile_release(struct inode *inode, struct file *file);

#endif /* IOT_PROCFILE_H */
