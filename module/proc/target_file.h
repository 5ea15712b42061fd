/* SPDX-License-Identifier: GPL-2.0 */
/* The files of a target. */
#ifndef IOT_TARGET_FILE_H
#define IOT_TARGET_FILE_H

#include <linux/fs.h>
#include <linux/rhashtable-types.h>
#include <linux/types.h>
#include "record/target_index.h"

struct iot_entry_link;
struct seq_file;

/**
 * struct iot_target_files - the files of a target
 * @indexed:	of the target
 * @list:	list of struct iot_target_file, the oldest first
 * @retired:	those that were its files, the oldest first
 * @nr_retired:	number of these
 * @traced:	the files are visible to probes
 *
 * All under target_file.c's lock; @list changes only under the lock of targets as well.
 */
struct iot_target_files {
	struct iot_indexed_target *indexed;
	struct list_head list;
	struct list_head retired;
	unsigned int nr_retired;
	bool traced;
};

/**
 * struct iot_target_file - a file whose events are in the log of a target
 * @indexed:	the part that probes use
 * @ino_node:	in the index of all files by inode number
 * @list:	in the list of the target's files, or of those that were its files
 * @files:	of the target
 * @st_dev:	device number as stat(2) gives it
 * @entry_link:	its name in /proc/iotracer, or NULL
 *
 * @ino_node: under the lock of targets. @list: under target_file.c's lock.
 */
struct iot_target_file {
	struct iot_indexed_file indexed;

	struct rhlist_head ino_node;
	struct list_head list;
	struct rcu_head rcu;
	struct iot_target_files *files;
	dev_t st_dev;
	struct iot_entry_link *entry_link;
};

void iot_target_files_begin(struct iot_target_files *files, struct iot_indexed_target *indexed);

struct iot_target_file *iot_target_file_lookup(struct inode *inode);
struct iot_target_file *iot_target_file_new(struct iot_target_files *files,
					    struct inode *inode, dev_t st_dev, u64 st_ino);
int iot_target_file_add(struct iot_target_file *f);
void iot_target_file_retire(struct iot_target_file *f);
void iot_target_file_free(struct iot_target_file *f);

void iot_target_files_publish(struct iot_target_files *files);
void iot_target_files_unpublish(struct iot_target_files *files);
void iot_target_files_delist(struct iot_target_files *files);
void iot_target_files_free(struct iot_target_files *files);

void iot_target_files_show(struct seq_file *m, struct iot_target_files *files);

int iot_target_file_init(void);
void iot_target_file_exit(void);

#endif /* IOT_TARGET_FILE_H */
