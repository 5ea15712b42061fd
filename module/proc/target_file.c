// SPDX-License-Identifier: GPL-2.0
/*
 * The files of a target: those that its names lead to, mostly one.
 *
 * A file is identified by a key (file/key.c), so no reference to anything of the filesystem is
 * held. A file that is replaced by another one is retired: new calls on it are not recorded, but
 * calls in progress, which know it by its id, are recorded when they end. A target keeps a few
 * retired files, so a process that replaces its file all the time takes no more memory.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rhashtable.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "proc/entry_link.h"
#include "proc/target_file.h"

#define MAX_RETIRED	8	/* of a target */

/* All files of all targets, under the lock of targets. Has a secret hash, and grows and shrinks. */
static struct rhltable by_ino;

/* Protects the lists of files of each target, and what is published of them. */
static DEFINE_MUTEX(files_lock);

static const struct rhashtable_params ino_params = {
	.key_len = sizeof_field(struct iot_target_file, indexed.key.ino),
	.key_offset = offsetof(struct iot_target_file, indexed.key.ino),
	.head_offset = offsetof(struct iot_target_file, ino_node),
	.automatic_shrinking = true,
};

/** iot_target_files_begin() - set up the files of a target: none */
void iot_target_files_begin(struct iot_target_files *files, struct iot_indexed_target *indexed)
{
	files->indexed = indexed;
	INIT_LIST_HEAD(&files->list);
	INIT_LIST_HEAD(&files->retired);
}

/**
 * iot_target_file_lookup() - find a file of a target, running or not
 *
 * Context: task, under the lock of targets; the caller holds a reference to the inode. Return: the
 * file or NULL.
 */
struct iot_target_file *iot_target_file_lookup(struct inode *inode)
{
	u64 ino = inode->i_ino;
	struct rhlist_head *list, *pos;
	struct iot_target_file *f, *found = NULL;

	rcu_read_lock();
	list = rhltable_lookup(&by_ino, &ino, ino_params);
	rhl_for_each_entry_rcu(f, pos, list, ino_node) {
		if (iot_key_is(&f->indexed.key, inode)) {
			found = f;
			break;
		}
	}
	rcu_read_unlock();
	return found;
}

/**
 * iot_target_file_new() - allocate a file of a target, which has no effect yet
 * @st_dev:	as stat(2) gives it
 * @st_ino:	as stat(2) gives it
 *
 * Context: task, under the lock of targets. Return: the file or NULL.
 */
struct iot_target_file *iot_target_file_new(struct iot_target_files *files,
					    struct inode *inode, dev_t st_dev, u64 st_ino)
{
	struct iot_target_file *f = kzalloc(sizeof(*f), GFP_KERNEL);

	if (!f)
		return NULL;
	iot_key_make(&f->indexed.key, inode);
	f->indexed.device = S_ISBLK(inode->i_mode) ? inode->i_rdev : 0;
	f->indexed.ino = st_ino;
	f->indexed.t = files->indexed;
	f->files = files;
	f->st_dev = st_dev;
	INIT_LIST_HEAD(&f->list);
	if (iot_target_index_id_get(&f->indexed)) {
		kfree(f);
		return NULL;
	}
	return f;
}

/**
 * iot_target_file_add() - make a file one of its target's; traced at once if the target runs
 *
 * Context: task, under the lock of targets. Return: 0 or -ENOMEM.
 */
int iot_target_file_add(struct iot_target_file *f)
{
	if (rhltable_insert(&by_ino, &f->ino_node, ino_params))
		return -ENOMEM;
	mutex_lock(&files_lock);
	list_add_tail(&f->list, &f->files->list);
	if (f->files->traced)
		iot_target_index_publish(&f->indexed);
	mutex_unlock(&files_lock);
	return 0;
}

/** iot_target_file_free() - free a file that no probe can find. Context: task */
void iot_target_file_free(struct iot_target_file *f)
{
	iot_target_index_id_put(&f->indexed);
	kfree_rcu(f, rcu);
}

/* Caller holds files_lock. */
static void forget_retired(struct iot_target_files *files, unsigned int most)
{
	struct iot_target_file *f;

	for (; files->nr_retired > most; files->nr_retired--) {
		f = list_first_entry(&files->retired, struct iot_target_file, list);
		list_del(&f->list);
		iot_target_index_unpublish(&f->indexed);
		iot_target_file_free(f);
	}
}

/**
 * iot_target_file_retire() - record no new call of a file; it is freed later
 *
 * Context: task, under the lock of targets.
 */
void iot_target_file_retire(struct iot_target_file *f)
{
	struct iot_target_files *files = f->files;

	rhltable_remove(&by_ino, &f->ino_node, ino_params);
	iot_entry_link_remove(f->entry_link);
	f->entry_link = NULL;
	mutex_lock(&files_lock);
	iot_target_index_hide(&f->indexed);
	list_move_tail(&f->list, &files->retired);
	files->nr_retired++;
	forget_retired(files, files->traced ? MAX_RETIRED : 0);
	mutex_unlock(&files_lock);
}

/** iot_target_files_publish() - make a target's files visible to probes. Context: task */
void iot_target_files_publish(struct iot_target_files *files)
{
	struct iot_target_file *f;

	mutex_lock(&files_lock);
	files->traced = true;
	list_for_each_entry(f, &files->list, list)
		iot_target_index_publish(&f->indexed);
	mutex_unlock(&files_lock);
}

/** iot_target_files_unpublish() - hide a target's files from probes. Context: task */
void iot_target_files_unpublish(struct iot_target_files *files)
{
	struct iot_target_file *f;

	mutex_lock(&files_lock);
	files->traced = false;
	list_for_each_entry(f, &files->list, list)
		iot_target_index_unpublish(&f->indexed);
	forget_retired(files, 0);
	mutex_unlock(&files_lock);
}

/** iot_target_files_delist() - let control find a target's files no more. Context: its lock */
void iot_target_files_delist(struct iot_target_files *files)
{
	struct iot_target_file *f;

	list_for_each_entry(f, &files->list, list) {
		rhltable_remove(&by_ino, &f->ino_node, ino_params);
		iot_entry_link_remove(f->entry_link);
		f->entry_link = NULL;
	}
}

/** iot_target_files_free() - free a target's files, which nobody can find any more */
void iot_target_files_free(struct iot_target_files *files)
{
	struct iot_target_file *f, *next;

	list_for_each_entry_safe(f, next, &files->list, list)
		iot_target_file_free(f);
}

/** iot_target_files_show() - print which files a target has. Context: task */
void iot_target_files_show(struct seq_file *m, struct iot_target_files *files)
{
	struct iot_target_file *f;

	mutex_lock(&files_lock);
	list_for_each_entry(f, &files->list, list) {
		seq_printf(m, "device %u:%u\n", MAJOR(f->st_dev), MINOR(f->st_dev));
		seq_printf(m, "inode %llu\n", f->indexed.ino);
		seq_printf(m, "generation %u\n", f->indexed.key.generation);
	}
	mutex_unlock(&files_lock);
}

/** iot_target_file_init() - set up the index at load. Return: 0 or -ENOMEM */
int iot_target_file_init(void)
{
	return rhltable_init(&by_ino, &ino_params);
}

/** iot_target_file_exit() - free the index, when no file is left */
void iot_target_file_exit(void)
{
	rhltable_destroy(&by_ino);
}
