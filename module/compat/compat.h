/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only place that knows kernel versions. The code is written for the newest
 * kernel. What an older kernel lacks is adapted here, by the compile probes in
 * tests/. A compile probe tests one API; its first line names the upstream change.
 */
#ifndef IOT_COMPAT_H
#define IOT_COMPAT_H

#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/mm_types.h>
#include <linux/mount.h>
#include <linux/page-flags.h>
#include <linux/rcupdate.h>
#include <linux/restart_block.h>
#include <linux/sched.h>
#include <linux/time64.h>
#include "compat/arch.h"
#include "compat/config.h"

/*
 * For a stack variable that is filled in anyway, in code that runs for every call. Without this,
 * kernels with CONFIG_INIT_STACK_ALL_ZERO zero it first.
 */
#if __has_attribute(__uninitialized__)
#define IOT_UNINITIALIZED	__attribute__((__uninitialized__))
#else
#define IOT_UNINITIALIZED
#endif

static inline int iot_inode_permission(struct vfsmount *mnt,
				       struct inode *inode, int mask)
{
#ifdef IOT_HAVE_INODE_PERMISSION_IDMAP
	return inode_permission(mnt_idmap(mnt), inode, mask);
#else
	return inode_permission(mnt_user_ns(mnt), inode, mask);
#endif
}

/* The path by which a program opened a file, also for a file below an overlay. */
static __always_inline const struct path *iot_file_user_path(const struct file *file)
{
#ifdef IOT_HAVE_FILE_USER_PATH
	return file_user_path(file);
#else
	return &file->f_path;
#endif
}

/*
 * Is a file open below another one, for the calls on that one? So are the files below those of
 * overlayfs, and of FUSE where it passes calls through. Before 6.5 such a file has the path of the
 * file above it (open_with_fake_path()).
 */
static __always_inline bool iot_file_is_backing(const struct file *file)
{
#ifdef FMODE_BACKING
	return file->f_mode & FMODE_BACKING;
#else
	return unlikely(file->f_mode & FMODE_NOACCOUNT) &&
	       d_backing_inode(file->f_path.dentry) != file_inode(file);
#endif
}

/* User address that a name was copied from; NULL if there is none or it is not kept. */
static __always_inline const char __user *iot_filename_user(const struct filename *name)
{
#ifdef IOT_HAVE_FILENAME_UPTR
	return name->uptr;
#else
	return NULL;
#endif
}

/* The member of struct dentry that links the names of an inode. */
#ifdef IOT_HAVE_DENTRY_ALIAS
#define iot_d_alias	d_alias
#else
#define iot_d_alias	d_u.d_alias
#endif

/* Bits of folio->mapping, set if it is not the mapping of a file. */
#ifdef FOLIO_MAPPING_FLAGS
#define IOT_MAPPING_FLAGS	FOLIO_MAPPING_FLAGS
#else
#define IOT_MAPPING_FLAGS	PAGE_MAPPING_FLAGS
#endif

/* The executable of a process, with a reference held, or NULL. Context: any task. */
static inline struct file *iot_exe_file(struct mm_struct *mm)
{
	struct file *file;

	rcu_read_lock();
#ifdef IOT_HAVE_GET_FILE_RCU_POINTER
	file = get_file_rcu(&mm->exe_file);
#else
	file = rcu_dereference(mm->exe_file);
	if (file && !get_file_rcu(file))
		file = NULL;
#endif
	rcu_read_unlock();
	return file;
}

/* FAULT_FLAG_* of a page fault that holds only the lock of its VMA; 0 if the kernel has none. */
#ifdef IOT_HAVE_FAULT_VMA_LOCK
#define IOT_FAULT_VMA_LOCK	FAULT_FLAG_VMA_LOCK
#else
#define IOT_FAULT_VMA_LOCK	0
#endif

/* The ->splice_read that calls ->read_iter and so needs no hook of its own. */
#ifdef IOT_HAVE_COPY_SPLICE_READ
#define iot_splice_by_read_iter copy_splice_read
#else
#define iot_splice_by_read_iter generic_file_splice_read
#endif

/* When a poll(2) that is made again has to end, CLOCK_MONOTONIC ns. */
static inline s64 iot_restart_poll_end(const struct restart_block *block)
{
#ifdef IOT_HAVE_RESTART_POLL_END_TIME
	return timespec64_to_ns(&block->poll.end_time);
#else
	const struct timespec64 end = {
		.tv_sec = block->poll.tv_sec,
		.tv_nsec = block->poll.tv_nsec,
	};

	return timespec64_to_ns(&end);
#endif
}

/* Does a thread run, or does the scheduler just leave it? */
static __always_inline bool iot_task_is_on_cpu(const struct task_struct *task)
{
#ifdef CONFIG_SMP
	/* pairs with finish_task(): what the thread has done before it sleeps is seen */
	return smp_load_acquire(&task->on_cpu);
#else
	return task == current;
#endif
}

#endif /* IOT_COMPAT_H */
