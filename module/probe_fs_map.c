// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings of files: one event for each file-backed mapping that a call touches,
 * however old the mapping is. What is anonymous memory is none.
 *
 * Contexts: task; a wrapper may sleep and takes mmap_lock for reading before the
 * call does; a kretprobe's handler only tries to.
 */
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/mmap_lock.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "probe_fs.h"

/**
 * struct piece - what a call touches of one mapping
 * @file:	held
 */
struct piece {
	struct file *file;
	u64 address;
	u64 length;
	u64 offset;
	u32 flags;
	u32 prot;
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

/* The old call of 32-bit programs: a structure in user memory. */
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

/* Count those with a file, and keep up to @max of them. Under mmap_lock. */
static u32 walk(struct mm_struct *mm, u64 start, u64 end, struct piece *pieces, u32 max)
{
	struct vm_area_struct *vma = find_vma(mm, start);
	u32 n = 0;

	for (; vma && vma->vm_start < end; vma = find_vma(mm, vma->vm_end)) {
		if (vma->vm_file && n < max)
			take_piece(&pieces[n], vma, start, end);
		n += !!vma->vm_file;
	}
	return n;
}

/*
 * The pieces of a range. Return: how many, and @pieces is to be freed, or 0; what
 * could not be looked at is counted as missed.
 */
static u32 find_pieces(struct iot_frame *f, u64 start, u64 end, struct piece **pieces)
{
	struct mm_struct *mm = current->mm;
	u32 n;

	if (!mm || !lock_mappings(f, mm)) {
		iot_frame_lost();
		return 0;
	}
	n = walk(mm, start, end, NULL, 0);
	if (n) {
		*pieces = kmalloc_array(n, sizeof(**pieces), iot_frame_gfp(f));
		if (*pieces) {
			walk(mm, start, end, *pieces, n);
		} else {
			iot_frame_lost();
			n = 0;
		}
	}
	mmap_read_unlock(mm);
	return n;
}

static bool fill_piece(struct iot_frame *f, struct iot_fs *e, const struct piece *p)
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

/* An event for each piece that is wanted: the first is the frame's own. */
static bool fill_pieces(struct iot_frame *f, const struct piece *pieces, u32 n)
{
	const struct iot_fs template = f->e;
	bool any = false;
	u32 i;

	if (n > 1)
		f->more = kmalloc_array(n - 1, sizeof(*f->more), iot_frame_gfp(f));
	for (i = 0; i < n; i++) {
		struct iot_fs *e = any ? &f->more[f->nr_more] : &f->e;

		if (any && !f->more) {
			iot_frame_lost();
			continue;
		}
		*e = template;
		if (!fill_piece(f, e, &pieces[i]))
			continue;
		f->nr_more += any;
		any = true;
	}
	return any;
}

static bool begin_range(struct iot_frame *f, u64 start, u64 length, u32 most)
{
	struct piece *pieces;
	u64 end = start + length;
	bool any;
	u32 i, n;

	if (end <= start)
		return false;
	n = find_pieces(f, start, end, &pieces);
	if (!n)
		return false;
	any = fill_pieces(f, pieces, min(n, most));
	for (i = 0; i < n; i++)
		fput(pieces[i].file);
	kfree(pieces);
	return any;
}

/* munmap, msync, madvise (address, length, ...) */
bool iot_map_begin_range(struct iot_frame *f)
{
	return begin_range(f, f->a[0], f->a[1], U32_MAX);
}

/* do_madvise(mm, address, length, advice) */
bool iot_map_begin_advise(struct iot_frame *f)
{
	return begin_range(f, f->a[1], f->a[2], U32_MAX);
}

/* mremap(old address, old length, new length, ...): of one mapping; 0 is a copy */
bool iot_map_begin_remap(struct iot_frame *f)
{
	return begin_range(f, f->a[0], f->a[1] ?: 1, 1);
}
