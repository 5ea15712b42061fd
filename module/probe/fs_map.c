// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings of files: one event for each file-backed mapping that a call affects, even if it was
 * made before the trace. Anonymous memory is no event.
 *
 * Contexts: task. A wrapper may sleep, and takes mmap_lock for reading before the call
 * takes it. A kretprobe's handler only tries to take it.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_FS_CALLS /* left_out.h */
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/mmap_lock.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include "hook/enter.h"
#include "hook/symbol.h"
#include "probe/fs_frame.h"

/**
 * struct piece - the part of one mapping that a call affects
 * @file:	a reference is held
 */
struct piece {
	struct file *file;
	u64 address;
	u64 length;
	u64 offset;
	u32 flags;
	u32 prot;
};

#define PIECES	8	/* pieces of one batch, which is on the stack */

struct batch {
	u32 nr;
	struct piece pieces[PIECES];
};

/* mmap(address, length, prot, flags, fd, offset) and mmap_pgoff */
bool iot_map_wants(const u64 *a)
{
	return !(a[3] & MAP_ANONYMOUS);
}

bool iot_map_begin(struct iot_frame *f)
{
	f->e.address = f->a[0];
	return iot_file_resolve(f, (int)f->a[4]);
}

bool iot_map_begin_pages(struct iot_frame *f)
{
	f->e.offset <<= PAGE_SHIFT;
	return iot_map_begin(f);
}

/* The old mmap() of 32-bit programs: its arguments are in a structure in user memory. */
bool iot_map_begin_ia32(struct iot_frame *f)
{
	u32 a[6];
	int i;

	if (!iot_frame_read(f, a, f->a[0], sizeof(a)))
		return false;
	for (i = 0; i < 6; i++)
		f->a[i] = a[i];
	f->e.requested = a[1];
	f->e.flags2 = a[2];
	f->e.flags = a[3] & ~IOT_CALL_COMMON;
	f->e.offset = a[5];
	return iot_map_wants(f->a) && iot_map_begin(f);
}

void iot_map_end(struct iot_frame *f, s64 result)
{
	if (!IS_ERR_VALUE((unsigned long)result))
		f->e.address = result;
	iot_fs_end(&f->e, result);
}

static bool lock_mappings(const struct iot_frame *f, struct mm_struct *mm)
{
	if (f->may_sleep)
		return !mmap_read_lock_killable(mm);
	return !IS_ENABLED(CONFIG_PREEMPT_RT) && mmap_read_trylock(mm);
}

static void take_piece(struct piece *p, const struct vm_area_struct *vma, u64 start, u64 end)
{
	p->file = get_file(vma->vm_file);
	p->address = max_t(u64, start, vma->vm_start);
	p->length = min_t(u64, end, vma->vm_end) - p->address;
	p->offset = ((u64)vma->vm_pgoff << PAGE_SHIFT) + p->address - vma->vm_start;
	p->flags = vma->vm_flags & VM_MAYSHARE ? MAP_SHARED : MAP_PRIVATE;
	p->prot = vma->vm_flags & (VM_READ | VM_WRITE | VM_EXEC);
}

/*
 * Take up to PIECES file-backed mappings from @start on. Under mmap_lock.
 * Return: the address to continue from, or 0 if there are no more.
 */
static u64 take_pieces(struct mm_struct *mm, u64 start, u64 end, struct batch *b)
{
	struct vm_area_struct *vma = find_vma(mm, start);

	for (b->nr = 0; vma && vma->vm_start < end; vma = find_vma(mm, vma->vm_end)) {
		if (!vma->vm_file)
			continue;
		take_piece(&b->pieces[b->nr++], vma, start, end);
		if (b->nr == PIECES)
			return vma->vm_end;
	}
	return 0;
}

static bool fill_piece(const struct iot_frame *f, struct iot_fs *e, const struct piece *p)
{
	if (!iot_fs_file(e, &p->file->f_path, f->may_sleep))
		return false;
	e->address = p->address;
	e->offset = p->offset;
	if (e->op != IOT_FS_MREMAP)
		e->requested = p->length;
	if (e->op == IOT_FS_MUNMAP || e->op == IOT_FS_MMAP) {
		e->flags = p->flags;
		e->flags2 = p->prot;
	}
	return true;
}

/*
 * Make an event for each wanted piece of a batch. @any: an earlier batch made an event. Return:
 * true if any batch has made one.
 */
static bool fill_batch(struct iot_frame *f, const struct iot_fs *template, struct batch *b,
		       bool any)
{
	struct iot_fs e;
	u32 i;

	for (i = 0; i < b->nr; i++) {
		e = *template;
		if (fill_piece(f, &e, &b->pieces[i])) {
			if (any)
				iot_piece_add(f, &e);
			else
				f->e = e;
			any = true;
		}
		fput(b->pieces[i].file);
	}
	return any;
}

/*
 * Make an event for each file-backed mapping in the range, or only one for the first mapping
 * if @alone. mmap_lock is held for one batch at a time: if the program changes its mappings
 * meanwhile, the events show those that exist when their batch is taken. If the lock cannot be
 * taken, the rest counts as one missed event. @any and the result: as of fill_batch().
 */
static bool add_mappings(struct iot_frame *f, struct mm_struct *mm, const struct iot_fs *template,
			 u64 start, u64 length, bool alone, bool any)
{
	u64 end = start + length;
	struct batch b;

	if (end <= start)
		return any;
	while (start) {
		if (!mm || !lock_mappings(f, mm)) {
			iot_fs_count_missed();
			break;
		}
		start = take_pieces(mm, start, end, &b);
		mmap_read_unlock(mm);
		any = fill_batch(f, template, &b, any);
		if (alone)
			break;
		if (f->may_sleep)
			cond_resched();
	}
	return any;
}

static bool begin_range(struct iot_frame *f, u64 start, u64 length, bool alone)
{
	const struct iot_fs template = f->e;

	return add_mappings(f, current->mm, &template, start, length, alone, false);
}

/* munmap, msync, madvise (address, length, ...) */
bool iot_map_begin_range(struct iot_frame *f)
{
	return begin_range(f, f->a[0], f->a[1], false);
}

/* do_madvise(mm, address, length, advice) */
bool iot_map_begin_advise(struct iot_frame *f)
{
	return begin_range(f, f->a[1], f->a[2], false);
}

/* mremap(old address, old length, new length, ...): one mapping; an old length of 0 copies it */
bool iot_map_begin_remap(struct iot_frame *f)
{
	return begin_range(f, f->a[0], f->a[1] ?: 1, true);
}

/* remap_file_pages(address, length, 0, page, flags): maps another part of the same file there */
bool iot_map_begin_remap_pages(struct iot_frame *f)
{
	if (!begin_range(f, f->a[0], 1, true))
		return false;
	f->e.address = f->a[0];
	f->e.offset = f->a[3] << PAGE_SHIFT;
	f->e.requested = f->a[1];
	f->e.flags |= MAP_FIXED;
	return true;
}

/*
 * Copy the vector of process_madvise(2), of at most UIO_MAXIOV ranges. Return: the ranges, which
 * the caller frees, or NULL.
 */
static struct iovec *read_ranges(struct iot_frame *f, u64 address, size_t n)
{
	struct iovec *ranges = kvmalloc_array(n, sizeof(*ranges), GFP_KERNEL);
	size_t size = f->compat ? sizeof(u64) : sizeof(*ranges), i;
	u32 *halves = (u32 *)ranges;

	if (!ranges || !iot_frame_read(f, ranges, address, n * size)) {
		kvfree(ranges);
		return NULL;
	}
	for (i = n; f->compat && i--;) /* from the end: a range becomes twice as long */
		ranges[i] = (struct iovec){
			.iov_base = (void __user *)(unsigned long)halves[2 * i],
			.iov_len = halves[2 * i + 1],
		};
	return ranges;
}

static size_t nr_ranges(const struct iot_frame *f)
{
	return min_t(u64, f->a[2], UIO_MAXIOV);
}

/*
 * process_madvise(process, ranges, number, advice, flags): the ranges are in another process, whose
 * mappings are not looked at before the kernel has allowed the call.
 */
bool iot_map_begin_process(struct iot_frame *f)
{
	f->e.fd = (int)f->a[0];
	if (f->may_sleep && nr_ranges(f))
		f->ranges = read_ranges(f, f->a[1], nr_ranges(f));
	return true;
}

/* struct pid *pidfd_pid(file), 0 if it is not found */
static unsigned long pid_of_file;

/** iot_map_look() - find what leads from a descriptor to a process. Context: task, may sleep */
void iot_map_look(void)
{
	pid_of_file = iot_symbol_checked("pidfd_pid", "struct pid * (struct file *)");
}

/* PIDFD_SELF_THREAD and PIDFD_SELF_THREAD_GROUP, 6.16 */
#define IS_SELF(fd)	((fd) == -10000 || (fd) == -10001)

/* Get the memory of a process by its descriptor. Return: for mmput(), or NULL. */
static struct mm_struct *memory_of(int fd)
{
	unsigned long args[IOT_CALL_ARGS] = { 0 };
	struct task_struct *task = NULL;
	struct mm_struct *mm = NULL;
	struct file *file;
	struct pid *pid;

	if (IS_SELF(fd))
		return get_task_mm(current);
	file = pid_of_file ? fget(fd) : NULL;
	if (!file)
		return NULL;
	args[0] = (unsigned long)file;
	pid = (struct pid *)iot_hook_call(args, pid_of_file);
	if (!IS_ERR_OR_NULL(pid))
		task = get_pid_task(pid, PIDTYPE_PID);
	if (task) {
		mm = get_task_mm(task);
		put_task_struct(task);
	}
	fput(file);
	return mm;
}

/* Has the program changed the ranges since the kernel may have read them? */
static void check_ranges(struct iot_frame *f)
{
	struct iovec *now = read_ranges(f, f->a[1], nr_ranges(f));

	if (!now || memcmp(now, f->ranges, nr_ranges(f) * sizeof(*now)))
		f->e.unsure |= IOT_UNSURE_CHANGED;
	kvfree(now);
}

/*
 * The result is the number of bytes of the ranges that got the advice, from the first one on. A
 * call that the kernel refuses is an event without a file.
 */
void iot_map_end_process(struct iot_frame *f, s64 result)
{
	const u64 now = ktime_get_mono_fast_ns();
	struct mm_struct *mm = f->ranges && result > 0 ? memory_of((int)f->a[0]) : NULL;
	struct iot_fs template;
	u64 left = max(result, 0LL);
	bool any = false;
	size_t i;

	if (f->ranges)
		check_ranges(f);
	if (result < 0) {
		iot_fs_end_at(&f->e, result, now);
		return;
	}
	if (result && !mm)
		iot_fs_count_missed();
	template = f->e;
	for (i = 0; mm && i < nr_ranges(f) && left; i++) {
		u64 length = min_t(u64, left, f->ranges[i].iov_len);

		any = add_mappings(f, mm, &template, (unsigned long)f->ranges[i].iov_base, length,
				   false, any);
		left -= length;
	}
	if (mm)
		mmput(mm);
	if (any)
		iot_pieces_end_at(f, result, now);
}

#endif /* IOT_WITHOUT_FS_CALLS */
