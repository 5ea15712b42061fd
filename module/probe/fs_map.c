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
#include <linux/sched.h>
#include <linux/uaccess.h>
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
	const void __user *user = (const void __user *)f->a[0];
	u32 a[6];
	int i;

	if (f->may_sleep ? copy_from_user(a, user, sizeof(a)) :
			   copy_from_user_nofault(a, user, sizeof(a)))
		return false;
	for (i = 0; i < 6; i++)
		f->a[i] = a[i];
	f->e.requested = a[1];
	f->e.flags2 = a[2];
	f->e.flags = a[3];
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
	if (e->op == IOT_FS_MUNMAP) {
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
 * taken, the rest counts as one missed event.
 */
static bool begin_range(struct iot_frame *f, u64 start, u64 length, bool alone)
{
	const struct iot_fs template = f->e;
	struct mm_struct *mm = current->mm;
	u64 end = start + length;
	bool any = false;
	struct batch b;

	if (end <= start)
		return false;
	while (start) {
		if (!mm || !lock_mappings(f, mm)) {
			iot_fs_count_missed();
			break;
		}
		start = take_pieces(mm, start, end, &b);
		mmap_read_unlock(mm);
		any = fill_batch(f, &template, &b, any);
		if (alone)
			break;
		if (f->may_sleep)
			cond_resched();
	}
	return any;
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

#endif /* IOT_WITHOUT_FS_CALLS */
