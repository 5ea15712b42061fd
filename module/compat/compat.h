/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only place that knows kernel versions. The code is written for the newest
 * kernel; what an older one lacks is adapted here, by the compile probes in
 * tests/ (one API each; the first line names the upstream change).
 */
#ifndef IOT_COMPAT_H
#define IOT_COMPAT_H

#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/mm_types.h>
#include <linux/mount.h>
#include <linux/page-flags.h>
#include <linux/rcupdate.h>
#include "compat/config.h"

/*
 * A variable on the stack, in the path of every call, that its function fills: kernels
 * with CONFIG_INIT_STACK_ALL_ZERO would fill it with zeroes before.
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

/* The path by which a program opened a file, also below an overlay. */
static __always_inline const struct path *iot_file_user_path(const struct file *file)
{
#ifdef IOT_HAVE_FILE_USER_PATH
	return file_user_path(file);
#else
	return &file->f_path;
#endif
}

/* Where a program had a name from, NULL: nothing, or the kernel does not keep it */
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

/* Bits of folio->mapping that say it is none of a file. */
#ifdef FOLIO_MAPPING_FLAGS
#define IOT_MAPPING_FLAGS	FOLIO_MAPPING_FLAGS
#else
#define IOT_MAPPING_FLAGS	PAGE_MAPPING_FLAGS
#endif

/* The program of a process, held, or NULL. Context: any task. */
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

/*
 * Redirecting a call needs the argument registers and the instruction pointer
 * of an ftrace handler to be there, and writable, without SAVE_REGS, and an
 * entry site that we know how to enter behind: x86-64.
 */
#if defined(CONFIG_X86_64) && defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS) && \
	(defined(IOT_HAVE_ARCH_FTRACE_REGS) || defined(IOT_HAVE_FTRACE_REGS_REGS))
#define IOT_REDIRECT 1

static __always_inline struct pt_regs *iot_ftrace_regs(struct ftrace_regs *fregs)
{
#ifdef IOT_HAVE_ARCH_FTRACE_REGS
	return &arch_ftrace_regs(fregs)->regs;
#else
	return &fregs->regs;
#endif
}
#endif

/* A page fault with the lock of its mapping only, FAULT_FLAG_*; 0: none is made so. */
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

#endif /* IOT_COMPAT_H */
