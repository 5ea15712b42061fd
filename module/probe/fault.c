// SPDX-License-Identifier: GPL-2.0
/*
 * Category fault: page faults in mappings of files.
 *
 * All faults go through handle_mm_fault() (mm/memory.c): those of the processor and those
 * that the kernel makes itself, to read or pin memory of a program. It runs in the task,
 * holds the lock of the VMA or of all mappings of the process, and may sleep. A call that
 * had to wait for the file drops that lock and returns VM_FAULT_RETRY; the mapping may be
 * gone then. The kernel calls it again for the same address, and that is the same fault
 * here: what the first attempt noted is kept by task until then.
 *
 * MAJOR and MINOR are distinguished as in mm_account_fault(), so the sums are those of
 * getrusage(2). If a signal kills the process, a fault that has to be retried is abandoned. The
 * kernel does not count it, and it is no event here.
 *
 * Pages mapped around the one that was asked for (do_fault_around()) are counted in the
 * page table, before and after, in the 64 KiB that the kernel looks at by default. Pages
 * that another thread maps there at the same time are counted too.
 *
 * Faults in files of FUSE, network filesystems and the like may be unbounded. They are followed
 * by their return address, not by a wrapper.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_FAULT /* left_out.h */
#include <linux/fs.h>
#include <linux/hugetlb_inline.h>
#include <linux/kprobes.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include "core/clock.h"
#include "core/table.h"
#include "core/task.h"
#include "hook/enter.h"
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "hook/redirect.h"
#include "hook/symbol.h"
#include "hook/wrap.h"
#include "file/paths.h"
#include "file/sb.h"
#include "record/category.h"
#include "record/event.h"
#include "record/wants.h"
#include "probe/categories.h"
#include "probe/vfs.h"
#include "uapi/iotracer.h"

/* Entry: fault_asm.S */
IOT_HOOK_WRAPPER(iot_fault_any, unsigned long vma, unsigned long address,
		 unsigned long fault_flags, unsigned long regs, unsigned long original,
		 unsigned long caller);

#define AROUND_BYTES	(64UL * 1024)	/* fault_around_bytes, mm/memory.c */

/**
 * struct frame - a fault in progress
 * @file:	the file
 * @start:	of the first attempt, CLOCK_MONOTONIC ns
 * @address:	in the process
 * @offset:	of the address in the file, bytes
 * @mapped:	pages that were mapped in the window before, if @counted
 * @window:	first address of the window
 * @end:	end of the window
 * @pmd:	the entry that points to the window's page table; NULL if there was none
 * @fault_flags: FAULT_FLAG_*
 * @op:		IOT_FAULT_READ, IOT_FAULT_WRITE or IOT_FAULT_EXEC
 * @flags:	IOT_FAULT_*
 * @attempts:	attempts so far, including this one
 * @counted:	pages around the address are counted
 */
struct frame {
	struct iot_paths_file file;
	u64 start;
	u64 address;
	u64 offset;
	unsigned long window;
	unsigned long end;
	pmd_t *pmd;
	unsigned int mapped;
	unsigned int fault_flags;
	u16 op;
	u16 attempts;
	u32 flags;
	bool counted;
};

/* Attempts that the kernel will retry, by task, unless a signal has killed the task. */
struct attempt {
	u64 address;
	u64 start;
	u32 uid;
	u32 pid;
	unsigned int mapped;
	u16 op;
	u16 attempts;
};

#define ATTEMPT_BITS	8

static struct iot_category * const category = &iot_category_fault;

static atomic_long_t nr_displaced;

static void attempt_gone(void *thing, bool displaced)
{
	if (displaced)
		atomic_long_inc(&nr_displaced);
}

IOT_TABLE_STORE(attempt, struct attempt, ATTEMPT_BITS);
static struct iot_table attempts = {
	IOT_TABLE_OF(struct attempt, start, uid, pid),
	IOT_TABLE_STORED(attempt, ATTEMPT_BITS),
	.gone = attempt_gone,
};

/*
 * If no slot is free, another attempt loses its slot. The recorded latency of its fault is too
 * short, and the fault counts as missed.
 */
static void attempt_keep(const struct frame *f)
{
	struct attempt *a = iot_table_new(&attempts, current);

	if (!a) {
		atomic_long_inc(&nr_displaced);
		return;
	}
	a->address = f->address;
	a->start = f->start;
	a->uid = __kuid_val(current_euid());
	a->pid = current->tgid;
	a->mapped = f->mapped;
	a->op = f->op;
	a->attempts = f->attempts;
	iot_table_keep(a);
}

static __always_inline void attempt_take(struct frame *f)
{
	struct attempt *a;

	if (likely(iot_table_is_empty(&attempts)))
		return;
	a = iot_table_take(&attempts, current);
	if (!a)
		return;
	if (a->address == f->address && a->op == f->op) {
		f->start = a->start;
		f->mapped = a->mapped;
		f->attempts = a->attempts + 1;
	}
	iot_table_drop(&attempts, a);
}

/* The entry that points to the page table of an address, or NULL. */
static pmd_t *find_pmd(struct mm_struct *mm, unsigned long address)
{
	p4d_t *p4d;
	pud_t *pud;
	pgd_t *pgd;

	pgd = pgd_offset(mm, address);
	if (pgd_none(*pgd) || pgd_bad(*pgd))
		return NULL;
	p4d = p4d_offset(pgd, address);
	if (p4d_none(*p4d) || p4d_bad(*p4d))
		return NULL;
	pud = pud_offset(p4d, address);
	if (pud_none(*pud) || pud_bad(*pud))
		return NULL;
	return pmd_offset(pud, address);
}

/* Count the mapped pages of [start, end), which has one page table. */
static unsigned int count_mapped(const pmd_t *pmd, unsigned long start, unsigned long end)
{
	pmd_t value = READ_ONCE(*pmd);
	pte_t *pte, *last;
	unsigned int n = 0;

	if (pmd_none(value) || !pmd_present(value))
		return 0;
	if (pmd_bad(value)) /* one large page, which covers the window */
		return PTRS_PER_PTE;
	pte = pte_offset_kernel(&value, start);
	last = pte + ((end - start) >> PAGE_SHIFT);
#pragma GCC unroll 8
	for (; pte < last; pte++)
		n += !!pte_present(READ_ONCE(*pte));
	return n;
}

/*
 * The page tables of a locked mapping stay, except for the lowest one if it is replaced by
 * a large page. Its memory is freed after an RCU grace period, and preemption is off here.
 */
static unsigned int count_window(struct frame *f)
{
	unsigned int n = 0;

	preempt_disable_notrace();
	if (!f->pmd)
		f->pmd = find_pmd(current->mm, f->window);
	if (f->pmd)
		n = count_mapped(f->pmd, f->window, f->end);
	preempt_enable_notrace();
	return n;
}

static __always_inline void window_begin(struct frame *f, struct vm_area_struct *vma)
{
	f->counted = f->op != IOT_FAULT_WRITE && vma->vm_mm == current->mm;
	f->mapped = 0;
	if (!f->counted)
		return;
	f->window = max(f->address & ~(AROUND_BYTES - 1), vma->vm_start);
	f->end = min3(f->window + AROUND_BYTES, vma->vm_end,
		      (f->address | ~PMD_MASK) + 1);
	f->pmd = NULL;
	f->mapped = count_window(f);
	if (is_vm_hugetlb_page(vma))
		f->pmd = NULL; /* the page table is shared with other processes and may be freed */
}

static __always_inline unsigned int pages_mapped(struct frame *f, vm_fault_t result)
{
	unsigned int now;

	if (result & VM_FAULT_ERROR)
		return 0;
	/* the lock of the mapping has been dropped: do not read the page table */
	if (!f->counted || (result & VM_FAULT_COMPLETED))
		return 1;
	now = count_window(f);
	return now > f->mapped ? now - f->mapped : 1;
}

/* Do faults in the mapping sleep for a bounded time? */
static bool is_bounded(const struct vm_area_struct *vma)
{
	const struct super_block *sb = file_inode(vma->vm_file)->i_sb;

	return iot_sb_sleeps_bounded(sb) || sb->s_magic == HUGETLBFS_MAGIC;
}

static u16 op_of(unsigned int fault_flags)
{
	if (fault_flags & FAULT_FLAG_WRITE)
		return IOT_FAULT_WRITE;
	return fault_flags & FAULT_FLAG_INSTRUCTION ? IOT_FAULT_EXEC : IOT_FAULT_READ;
}

static __always_inline u32 flags_of(const struct vm_area_struct *vma,
				    unsigned int fault_flags, bool user)
{
	u32 flags = 0;

	if (vma->vm_flags & VM_SHARED)
		flags |= IOT_FAULT_SHARED;
	if (fault_flags & FAULT_FLAG_USER)
		flags |= IOT_FAULT_USER;
	if (!user)
		flags |= IOT_FAULT_GUP;
	if (!(fault_flags & FAULT_FLAG_WRITE))
		return flags;
	if (!(vma->vm_flags & VM_SHARED))
		flags |= IOT_FAULT_COW;
	else if (vma->vm_ops && vma->vm_ops->page_mkwrite)
		flags |= IOT_FAULT_MKWRITE;
	return flags;
}

/* Start to trace handle_mm_fault(vma, address, flags, regs) in a file that is known and wanted. */
static __always_inline void fault_begin_known(struct frame *f, const unsigned long *args)
{
	struct vm_area_struct *vma = (void *)args[0];

	f->address = args[1];
	f->fault_flags = args[2];
	f->op = op_of(f->fault_flags);
	f->attempts = 1;
	f->offset = ((u64)vma->vm_pgoff << PAGE_SHIFT) + (f->address - vma->vm_start);
	f->flags = flags_of(vma, f->fault_flags, args[3]);
	window_begin(f, vma);
	attempt_take(f);
}

/* As above, for any file. Return: false if the file is not wanted */
static bool fault_begin(struct frame *f, const unsigned long *args, bool may_sleep)
{
	struct vm_area_struct *vma = (void *)args[0];

	f->start = ktime_get_mono_fast_ns();
	iot_paths_of(iot_file_user_path(vma->vm_file), may_sleep, &f->file);
	if (!iot_category_wants_file(category, &f->file))
		return false;
	fault_begin_known(f, args);
	return true;
}

static __always_inline void record(struct frame *f, vm_fault_t result, u64 latency)
{
	unsigned int pages = pages_mapped(f, result);
	struct iot_event_at at;
	struct iot_fault *e;

	preempt_disable_notrace();
	if (unlikely(iot_category_asks_at_end(category, 0)) &&
	    iot_category_rejects_at_end(category, IOT_ANY_OP, latency, PAGE_SIZE, false))
		goto out;
	e = iot_event_reserve(category, &at);
	if (!e)
		goto out;
	iot_event_fill(e, &at, category, f->op, f->start, latency);
	e->address = f->address;
	e->offset = f->offset;
	e->inode = f->file.ino;
	e->path = f->file.id;
	e->device = f->file.dev;
	e->flags = f->flags;
	e->pages = pages;
	e->result = result & VM_FAULT_ERROR ? vm_fault_to_errno(result, FOLL_HWPOISON) : 0;
	/* the same condition as in mm_account_fault() */
	e->severity = (result & VM_FAULT_MAJOR) || (f->fault_flags & FAULT_FLAG_TRIED) ?
		      IOT_FAULT_MAJOR : IOT_FAULT_MINOR;
	e->attempts = f->attempts;
	e->kind = f->file.kind;
	e->reserved = 0;
	iot_task_fill(e);
	iot_event_commit(category, &at);
out:
	preempt_enable_notrace();
}

static __always_inline void fault_end(struct frame *f, vm_fault_t result)
{
	u64 latency = iot_clock_since(f->start, ktime_get_mono_fast_ns());

	if (result & VM_FAULT_RETRY)
		attempt_keep(f);
	else
		record(f, result, latency);
}

/* Preemption is on; must not sleep. */
static __always_inline enum iot_hook_verdict verdict_of(const struct vm_area_struct *vma,
							unsigned int fault_flags)
{
	if (!vma->vm_file || !iot_category_wants(category, op_of(fault_flags)))
		return IOT_HOOK_IGNORE;
	return likely(is_bounded(vma)) ? IOT_HOOK_FOLLOW : IOT_HOOK_FOLLOW_RETURN;
}

static enum iot_hook_verdict wants(const struct iot_site *site, const unsigned long *args,
				   unsigned long caller)
{
	return verdict_of((void *)args[0], args[2]);
}

static s64 call(const struct iot_site *site, unsigned long *args)
{
	struct frame f IOT_UNINITIALIZED;
	vm_fault_t result;

	if (!fault_begin(&f, args, true))
		return IOT_HOOK_PASS_THROUGH;
	result = (__force vm_fault_t)iot_hook_call(args, site->entry);
	fault_end(&f, result);
	return (__force u32)result;
}

static int entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long args[4];

	iot_kretprobe_args(regs, args, ARRAY_SIZE(args));
	if (wants(iot_site_of(ri), args, 0) == IOT_HOOK_IGNORE)
		return 1;
	return !fault_begin((struct frame *)ri->data, args, false);
}

static int probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	fault_end((struct frame *)ri->data, (__force vm_fault_t)regs_return_value(regs));
	return 0;
}

#ifdef IOT_REDIRECT
/*
 * Called in place of the function; see IOT_HOOK_WRAP. A call that returns to one of our
 * functions does not pass through, as in unwanted() of vfs_iter.c.
 */
s64 iot_fault_any(unsigned long vma, unsigned long address, unsigned long fault_flags,
		  unsigned long regs, unsigned long original, unsigned long caller)
{
	const unsigned long args[] = { vma, address, fault_flags, regs };
	struct frame f;
	bool wanted = fault_begin(&f, args, true);
	vm_fault_t result;

	if (!wanted && likely(!within_module(caller, THIS_MODULE))) {
		iot_redirect_leave();
		return IOT_HOOK_PASS_THROUGH;
	}
	result = (__force vm_fault_t)iot_hook_enter4(vma, address, fault_flags, regs, original);
	if (wanted)
		fault_end(&f, result);
	iot_redirect_leave();
	return (__force u32)result;
}

/*
 * The path of a fault's file, or NULL if the file is not known or not wanted. Preemption is
 * off.
 */
static __always_inline const struct iot_path *wanted_path(const struct vm_area_struct *vma)
{
	const struct path *path = iot_file_user_path(vma->vm_file);
	const struct iot_path *known = NULL;

	if (likely(d_backing_inode(path->dentry)))
		known = iot_paths_find(path, false);
	return likely(known) && iot_category_wants_file(category, &known->file) ? known : NULL;
}

/*
 * If the fault is not wanted, wrapper() ends in a jump and leaves no frame of ours (see
 * Kbuild). So code that needs a frame is in a function of its own, unless the compiler needs no
 * frame.
 */
#ifdef CONFIG_FRAME_POINTER
#define APART	noinline
#else
#define APART	__always_inline
#endif

/*
 * Follow a fault in a file that is known and wanted. Preemption is off, and is on
 * afterwards.
 */
static APART s64 follow_known(const struct iot_path *known, u64 start, unsigned long vma,
			      unsigned long address, unsigned long fault_flags,
			      unsigned long regs, unsigned long original)
{
	const unsigned long args[] = { vma, address, fault_flags, regs };
	struct frame f IOT_UNINITIALIZED;
	vm_fault_t result;

	f.file = known->file;
	preempt_enable_notrace();
	f.start = start;
	fault_begin_known(&f, args);
	result = (__force vm_fault_t)iot_hook_enter4(args[0], args[1], args[2], args[3],
						     original);
	fault_end(&f, result);
	iot_redirect_leave();
	return (__force u32)result;
}

/* Faults in files that are not known, or not wanted, go to the other wrapper. */
static s64 wrapper(unsigned long vma, unsigned long address, unsigned long fault_flags,
		   unsigned long regs, unsigned long original)
{
	u64 start = ktime_get_mono_fast_ns();
	const struct iot_path *known;

	preempt_disable_notrace();
	known = wanted_path((void *)vma);
	if (unlikely(!known)) {
		preempt_enable_notrace();
		return iot_fault_any_entry(vma, address, fault_flags, regs, original, 0);
	}
	return follow_known(known, start, vma, address, fault_flags, regs, original);
}

static struct iot_site site;

static void handler(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		    struct ftrace_regs *fregs)
{
	struct iot_regs *regs = iot_ftrace_regs(fregs);
	enum iot_hook_verdict verdict = verdict_of((void *)iot_regs_arg(regs, 0),
						   iot_regs_arg(regs, 2));

	if (verdict == IOT_HOOK_FOLLOW) {
		iot_site_redirect4(&site, ip, regs, wrapper);
		return;
	}
	if (verdict == IOT_HOOK_FOLLOW_RETURN)
		iot_site_follow(&site, regs);
	iot_site_pass(&site, ip, regs);
}
#endif

static struct iot_site site = {
	.symbol = "handle_mm_fault",
	.what = "FAULT",
	.proto = "int (struct vm_area_struct *, long, int, struct pt_regs *)",
	.may_be_unbounded = true,
	.handler = IOT_HOOK_OWN(handler),
};

static struct iot_hook_set set = {
	.sites = &site,
	.nr = 1,
	.wants = wants,
	.call = call,
	.entry = entry,
	.exit = probe_exit,
	.data_size = sizeof(struct frame),
};

static int start(void)
{
	int err;

	site.addr = iot_symbol_find(site.symbol);
	if (!site.addr) {
		pr_err("this kernel has no handle_mm_fault: there is no category fault\n");
		return -EOPNOTSUPP;
	}
	err = iot_hook_set_attach(&set);
	if (!err && !site.addr) { /* the function has another prototype, which is reported */
		iot_hook_set_detach(&set);
		err = -EOPNOTSUPP;
	}
	return err;
}

static void stop(void)
{
	iot_hook_set_detach(&set);
}

static unsigned long missed(void)
{
	return iot_hook_set_missed(&set) + atomic_long_read(&nr_displaced);
}

const struct iot_category_ops iot_fault_ops = {
	.start = start,
	.stop = stop,
	.missed = missed,
};

#endif /* IOT_WITHOUT_FAULT */
