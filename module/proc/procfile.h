/* SPDX-License-Identifier: GPL-2.0 */
/* What all files in /proc/iotracer share: access rights, visits, and commands line by line. */
#ifndef IOT_PROCFILE_H
#define IOT_PROCFILE_H

#include <linux/proc_fs.h>
#include <linux/types.h>
#include "core/visit.h"

struct file;
struct inode;
struct iov_iter;
struct kiocb;
struct poll_table_struct;
struct seq_file;

/**
 * struct iot_procfile_ops - the methods of a file
 * @open:	the opener may use the file
 * @release:	closes it; cannot fail. It waits for nothing that may last for ever, as it also runs
 *		when the file is removed while it is open
 * @read_iter:	for a file that can be read at any position, by seq_file
 * @read:	for any other file; may pause its visit
 * @poll:	whether there is something to read; for a file with @read
 *
 * Each runs within a visit of the file's directory (core/visit.c), @release if possible.
 */
struct iot_procfile_ops {
	int (*open)(struct inode *inode, struct file *file);
	int (*release)(struct inode *inode, struct file *file);
	ssize_t (*read_iter)(struct kiocb *iocb, struct iov_iter *to);
	ssize_t (*read)(struct file *file, char __user *buf, size_t count,
			struct iot_visit *visit);
	__poll_t (*poll)(struct file *file);
};

/**
 * struct iot_procfile - a file in a directory, which is printed or has methods of its own
 * @show:	prints it, as for single_open(); iot_procfile_shown() gets the directory's owner
 * @line:	runs one command, which ends in NUL instead of newline, on the directory's owner.
 *		Return: 0 or an error. NULL if the file takes no commands
 * @ops:	its methods, if there is no @show
 */
struct iot_procfile {
	const char *name;
	int (*show)(struct seq_file *m, void *v);
	int (*line)(void *owner, char *line);
	const struct iot_procfile_ops *ops;
};

#define IOT_PROCDIR_FILES	7	/* in a directory, at most */

/** struct iot_procnode - a file of a directory that exists */
struct iot_procnode {
	const struct iot_procfile *file;
	struct iot_procdir *dir;
};

/**
 * struct iot_procdir - a directory; stays until its files have been removed
 * @entry:	NULL if it was not created
 * @owner:	the object that its files show
 * @visited:	the tasks inside its files
 * @nodes:	its @nr files
 */
struct iot_procdir {
	struct proc_dir_entry *entry;
	void *owner;
	struct iot_visited visited;
	unsigned int nr;
	struct iot_procnode nodes[IOT_PROCDIR_FILES];
};

int iot_procfile_mkdir(struct iot_procdir *dir, const char *name, struct iot_procdir *parent,
		       void *owner);
struct proc_dir_entry *iot_procfile_symlink(const char *name, struct proc_dir_entry *parent,
					    const char *to);
int iot_procfile_create(struct iot_procdir *dir, const struct iot_procfile *files, size_t nr);

/** iot_procfile_owner() - get the owner of the directory that a file is in */
static inline void *iot_procfile_owner(const struct inode *inode)
{
	return ((struct iot_procnode *)pde_data(inode))->dir->owner;
}

void *iot_procfile_shown(const struct seq_file *m);

#endif /* IOT_PROCFILE_H */
