// SPDX-License-Identifier: GPL-2.0
/*
 * Reads and writes that the VFS rejects before a file's own function is called:
 *
 *   - the descriptor is not open, is not open for the operation, or has no position;
 *   - the position or the size is below zero, or beyond what a position can be;
 *   - the buffer is not in user memory.
 *
 * Only the system call sees them. Checking every read and write of the system is expensive, so
 * it is done only while the filter has rejected=1. At its entry a call is checked for whether it
 * may be rejected; its result shows whether it was.
 *
 * Contexts: the ftrace handler, the wrapper and the kretprobe handlers run in the task that
 * makes the call, at the entry and the return of a system call, with interrupts on and no lock
 * held. The wrapper may sleep. It is on the stack only of a call that looks as if it will be
 * rejected and so returns at once. If the descriptor gets another file just then, the call may
 * wait for as long as any read.
 */
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <asm/ptrace.h>
#include "compat/config.h"
#include "hook/enter.h"
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "hook/redirect.h"
#include "hook/symbol.h"
#include "record/fs.h"
#include "record/rw.h"
#include "probe/rejected.h"

/* Does the filter of category fs have rejected=1? */
static bool is_asked_for(void)
{
	const struct iot_filter *f;
	bool asked;

	preempt_disable_notrace();
	f = rcu_dereference_sched(iot_category_fs.filter);
	asked = f && (f->used & IOT_FILTER_REJECTED);
	preempt_enable_notrace();
	return asked;
}

#if defined(IOT_ARCH_KNOWN) && !defined(IOT_WITHOUT_FS_REJECTED)
/**
 * struct kind - one kind of call
 * @position:	the fourth argument is a position (for 32-bit programs, two arguments are)
 * @pad:	an unused argument precedes the position
 * @compat:	32-bit programs only
 * @vector:	the third argument is a number of buffers, not of bytes
 * @here:	a position of -1 means the current position of the file
 */
struct kind {
	bool write;
	bool position;
	bool vector;
	bool here;
	bool pad;
	bool compat;
};

/* What a call asks for. */
struct asked {
	unsigned int fd;
	unsigned long buffer;
	s64 size;	/* bytes, 0 if not known */
	s64 position;	/* 0 if the call gets none */
	bool write;
	bool has_position;
};

/*
 * Return: FMODE_* of a descriptor, 0 if it is not open, or only open with O_PATH.
 * Context: any, preemption off.
 */
static __always_inline fmode_t mode_of(unsigned int fd)
{
	const struct fdtable *fdt = rcu_dereference_raw(current->files->fdt);
	const struct file *file;
	fmode_t mode;

	if (fd >= fdt->max_fds)
		return 0;
	file = rcu_dereference_raw(fdt->fd[array_index_nospec(fd, fdt->max_fds)]);
	mode = file ? READ_ONCE(file->f_mode) : 0;
	return mode & FMODE_PATH ? 0 : mode;
}

/* Will the VFS reject the call? See ksys_pread64(), vfs_read() and rw_verify_area(). */
static __always_inline bool is_rejected(const struct asked *r)
{
	fmode_t mode;

	if (r->position < 0 || r->size < 0)
		return true;
	preempt_disable_notrace();
	mode = mode_of(r->fd);
	preempt_enable_notrace();
	/* FMODE_CAN_* implies FMODE_READ or FMODE_WRITE, and that the file has the function */
	if (!(mode & (r->write ? FMODE_CAN_WRITE : FMODE_CAN_READ)))
		return true;
	if (r->has_position && !(mode & (r->write ? FMODE_PWRITE : FMODE_PREAD)))
		return true;
	if (!access_ok((void __user *)r->buffer, r->size))
		return true;
	return (u64)r->position + r->size > LLONG_MAX;
}

#ifdef IOT_REDIRECT
/*
 * Every read and write of the system comes here. A call that looks as if it may be rejected
 * is checked again by wants(), as this function takes the vector of some calls for a buffer.
 */
static __always_inline void look(unsigned long ip, unsigned long parent_ip,
				 struct ftrace_ops *ops, struct ftrace_regs *fregs, bool write,
				 bool position)
{
	const struct iot_regs *called = iot_ftrace_regs(fregs);
	const struct pt_regs *regs = (const struct pt_regs *)iot_regs_arg(called, 0);
	const struct asked r = {
		.fd = iot_syscall_arg(regs, 0),
		.buffer = iot_syscall_arg(regs, 1),
		.size = iot_syscall_arg(regs, 2),
		.position = position ? iot_syscall_arg(regs, 3) : 0,
		.write = write,
		.has_position = position,
	};

	if (unlikely(iot_redirect_is_shared(called)) || unlikely(is_rejected(&r)))
		iot_hook_set_handle(ip, parent_ip, ops, fregs);
}

#define LOOK(name, write, position)						\
	static void name(unsigned long ip, unsigned long parent_ip,		\
			 struct ftrace_ops *ops, struct ftrace_regs *fregs)	\
	{									\
		look(ip, parent_ip, ops, fregs, write, position);		\
	}

LOOK(look_read, false, false)
LOOK(look_write, true, false)
LOOK(look_pread, false, true)
LOOK(look_pwrite, true, true)
#endif

#define SITE(name, by, ...)						\
	{ .symbol = name, .what = "rejected", .handler = IOT_HOOK_OWN(by), \
	  .proto = IOT_HOOK_SYSCALL,				\
	  .data = &(const struct kind){ __VA_ARGS__ } }
#define READ_SITE(name, ...)	SITE(name, look_read, __VA_ARGS__)
#define WRITE_SITE(name, ...)	SITE(name, look_write, .write = true, __VA_ARGS__)
#define PREAD_SITE(name, ...)	SITE(name, look_pread, .position = true, __VA_ARGS__)
#define PWRITE_SITE(name, ...)	\
	SITE(name, look_pwrite, .write = true, .position = true, __VA_ARGS__)
#define COMPAT(name, ...)		SITE(name, NULL, .compat = true, __VA_ARGS__)
#define WRITES			.write = true
#define AT			.position = true
#define VECTOR			.vector = true
#define HERE			.here = true

#define PAD			.pad = true

static struct iot_site sites[] = {
	READ_SITE(IOT_SYSCALL "read"),
	WRITE_SITE(IOT_SYSCALL "write"),
	PREAD_SITE(IOT_SYSCALL "pread64"),
	PWRITE_SITE(IOT_SYSCALL "pwrite64"),
	READ_SITE(IOT_SYSCALL "readv", VECTOR),
	WRITE_SITE(IOT_SYSCALL "writev", VECTOR),
	PREAD_SITE(IOT_SYSCALL "preadv", VECTOR),
	PWRITE_SITE(IOT_SYSCALL "pwritev", VECTOR),
	PREAD_SITE(IOT_SYSCALL "preadv2", VECTOR, HERE),
	PWRITE_SITE(IOT_SYSCALL "pwritev2", VECTOR, HERE),
#ifdef CONFIG_IA32_EMULATION
	COMPAT(IOT_SYSCALL_32 "read"),
	COMPAT(IOT_SYSCALL_32 "write", WRITES),
	COMPAT(IOT_SYSCALL_32 "ia32_pread64", AT),
	COMPAT(IOT_SYSCALL_32 "ia32_pwrite64", WRITES, AT),
	COMPAT(IOT_SYSCALL_32 "readv", VECTOR),
	COMPAT(IOT_SYSCALL_32 "writev", WRITES, VECTOR),
#endif
#if defined(CONFIG_ARM64) && defined(CONFIG_COMPAT)
	COMPAT(IOT_SYSCALL_COMPAT "aarch32_pread64", AT, PAD),
	COMPAT(IOT_SYSCALL_COMPAT "aarch32_pwrite64", WRITES, AT, PAD),
#endif
#ifdef CONFIG_COMPAT
	COMPAT(IOT_SYSCALL_COMPAT "preadv", AT, VECTOR),
	COMPAT(IOT_SYSCALL_COMPAT "pwritev", WRITES, AT, VECTOR),
	COMPAT(IOT_SYSCALL_COMPAT "preadv2", AT, VECTOR, HERE),
	COMPAT(IOT_SYSCALL_COMPAT "pwritev2", WRITES, AT, VECTOR, HERE),
#endif
};

static struct asked request_of(const struct iot_site *site, const struct pt_regs *regs)
{
	const struct kind *kind = site->data;
	struct asked r = { .write = kind->write };
	unsigned int low = kind->pad ? 4 : 3;

	if (kind->compat) {
		r.fd = iot_syscall_arg32(regs, 0);
		r.buffer = iot_syscall_arg32(regs, 1);
		r.size = iot_syscall_arg32(regs, 2);
		r.position = (s64)(iot_syscall_arg32(regs, low) |
				   (u64)iot_syscall_arg32(regs, low + 1) << 32);
	} else {
		r.fd = iot_syscall_arg(regs, 0);
		r.buffer = iot_syscall_arg(regs, 1);
		r.size = iot_syscall_arg(regs, 2);
		r.position = iot_syscall_arg(regs, 3);
	}
	if (kind->vector)
		r.size = 0;
	r.has_position = kind->position && !(kind->here && r.position == -1);
	if (!r.has_position)
		r.position = 0;
	return r;
}

static enum iot_hook_verdict wants(const struct iot_site *site, const unsigned long *args,
				   unsigned long caller)
{
	const struct asked r = request_of(site, (const struct pt_regs *)args[0]);

	return !iot_fs_off() && is_rejected(&r) ? IOT_HOOK_FOLLOW : IOT_HOOK_IGNORE;
}

static bool begin(struct iot_fs *e, const struct iot_site *site, const struct pt_regs *regs,
		  bool may_sleep)
{
	const struct asked r = request_of(site, regs);
	struct file *file = fget_raw(r.fd);
	bool direct = file && (file->f_flags & O_DIRECT);
	bool wanted = iot_fs_begin(e, iot_rw_op(r.write, direct));

	if (wanted) {
		e->fd = (int)r.fd;
		e->offset = r.position;
		e->requested = r.size;
		e->flags = direct ? IOT_IO_DIRECT : 0;
		if (file)
			wanted = iot_fs_file(e, &file->f_path, may_sleep);
	}
	if (file)
		fput(file);
	return wanted;
}

/* End a call. If the VFS did not reject it, the hook of the file's own function records it. */
static void end(struct iot_fs *e, s64 result)
{
	switch (result) {
	case -EBADF:
	case -EFAULT:
	case -EINVAL:
	case -EOVERFLOW:
	case -ESPIPE:
		iot_fs_end(e, result);
	}
}

static s64 call(const struct iot_site *site, unsigned long *args)
{
	struct iot_fs e;
	s64 result;

	if (!begin(&e, site, (const struct pt_regs *)args[0], true))
		return IOT_HOOK_PASS_THROUGH;
	result = iot_hook_call(args, site->entry);
	end(&e, result);
	return result;
}

static int probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct iot_site *site = iot_site_of(ri);
	unsigned long args[1];

	iot_kretprobe_args(regs, args, 1);
	if (wants(site, args, 0) == IOT_HOOK_IGNORE)
		return 1;
	return !begin((struct iot_fs *)ri->data, site, (const struct pt_regs *)args[0], false);
}

static int probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	end((struct iot_fs *)ri->data, (s64)regs_return_value(regs));
	return 0;
}

static struct iot_hook_set set = {
	.sites = sites,
	.nr = ARRAY_SIZE(sites),
	.wants = wants,
	.call = call,
	.entry = probe_entry,
	.exit = probe_exit,
	.data_size = sizeof(struct iot_fs),
};

static bool attached;	/* under the category's mutex @control */

/**
 * iot_rejected_refresh() - hook or unhook the system calls, as the filter needs
 *
 * Context: task, may sleep for seconds; the category's mutex @control is held.
 * Return: 0, or an error with no call hooked.
 */
int iot_rejected_refresh(void)
{
	int err;

	if (!is_asked_for()) {
		iot_rejected_stop();
		return 0;
	}
	if (attached)
		return 0;
	err = iot_hook_set_start(&set, NULL, 0);
	attached = !err;
	return err;
}

/** iot_rejected_stop() - unhook the system calls if they are hooked. Context: as above */
void iot_rejected_stop(void)
{
	if (attached)
		iot_hook_set_stop(&set, NULL, 0);
	attached = false;
}

/** iot_rejected_missed() - count the calls that could not be followed */
unsigned long iot_rejected_missed(void)
{
	return iot_hook_set_own_missed(&set);
}
#else
int iot_rejected_refresh(void)
{
	return is_asked_for() ? -EOPNOTSUPP : 0;
}

void iot_rejected_stop(void)
{
}

unsigned long iot_rejected_missed(void)
{
	return 0;
}
#endif
