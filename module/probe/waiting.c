// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that wait in a system call of a category, found when somebody asks for them. A call that
 * has not ended has no record, and the hooks keep no list: each thread is looked at, as procfs
 * does for /proc/<pid>/syscall.
 *
 * Nothing waits for a thread that is looked at, and none is held up for longer than it takes to
 * copy a line. What keeps things in place meanwhile:
 *
 *   the task	a reference
 *   its stack	with the registers of the system call: the lock of the task, under which it has a
 *		table of files. exit(2) takes that lock to drop the table (exit_files()), and no
 *		stack is freed before
 *   the file	the lock of that table. So no close(2) is delayed by a reference of ours
 *
 * The registers belong to one call if the thread slept before they were read and sleeps after
 * that, and the scheduler has not left it in between: it counts how often it does. The count is
 * written before ->on_cpu is cleared, which pairs with iot_task_is_on_cpu().
 *
 * A descriptor leads to what it is now. If another thread has closed it while the call sleeps, it
 * may be none, or another file.
 *
 * Not looked at: threads of the kernel and of io_uring, which make no system calls; those that
 * exit or dump core; those that are stopped, traced or frozen, whose call has ended and is made
 * again.
 *
 * Context: task, may sleep; in a visit of a file in /proc/iotracer.
 */
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/net.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <uapi/linux/net.h>
#include <asm/syscall.h>
#include "compat/compat.h"
#include "core/task.h"
#include "core/thread.h"
#include "file/originator.h"
#include "hook/symbol.h"
#include "record/category.h"
#include "probe/waiting.h"

#ifdef PF_USER_WORKER
#define USER_WORKER	PF_USER_WORKER	/* since 6.4 */
#else
#define USER_WORKER	0
#endif

static unsigned long restart_poll;	/* address of do_restart_poll(), 0 if it is not known */

/** iot_waiting_prepare() - find what the functions below need. Context: task, may sleep */
void iot_waiting_prepare(void)
{
	if (!READ_ONCE(restart_poll))
		WRITE_ONCE(restart_poll, iot_symbol_find("do_restart_poll"));
}

/* Does a thread sleep? @switches: how often the scheduler has left it */
static bool is_asleep(const struct task_struct *task, unsigned long *switches)
{
	const unsigned int others = __TASK_STOPPED | __TASK_TRACED | TASK_PARKED | TASK_DEAD;
	unsigned int state;

	if (iot_task_is_on_cpu(task))
		return false;
	state = READ_ONCE(task->__state);
	*switches = READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
	return (state & TASK_NORMAL) && !(state & others);
}

/* Is it in a call that it will go on with? */
static bool is_in_call(const struct task_struct *task)
{
	const unsigned int others = PF_KTHREAD | PF_IO_WORKER | USER_WORKER | PF_EXITING |
				    PF_DUMPCORE | PF_POSTCOREDUMP;

	if (READ_ONCE(task->flags) & others)
		return false;
#ifdef CONFIG_CGROUPS
	/* the thread writes it before it sleeps; if it runs now, it is not taken anyway */
	if (data_race(!!task->frozen))
		return false;
#endif
	return true;
}

#ifdef IOT_ARCH_KNOWN
/* socketcall(2), with its arguments in memory of the program, which may not be there. */
static void resolve_socketcall(struct iot_waiting *w)
{
#ifdef CONFIG_IA32_EMULATION
	static const s16 calls[] = {
		[SYS_CONNECT] = IOT_NR32(connect),
		[SYS_ACCEPT] = IOT_NR32(accept4),
		[SYS_SEND] = IOT_NR32(sendto),
		[SYS_RECV] = IOT_NR32(recvfrom),
		[SYS_SENDTO] = IOT_NR32(sendto),
		[SYS_RECVFROM] = IOT_NR32(recvfrom),
		[SYS_SENDMSG] = IOT_NR32(sendmsg),
		[SYS_RECVMSG] = IOT_NR32(recvmsg),
		[SYS_ACCEPT4] = IOT_NR32(accept4),
		[SYS_RECVMMSG] = IOT_NR32(recvmmsg),
		[SYS_SENDMMSG] = IOT_NR32(sendmmsg),
	};
	u32 which = w->args[0];

	if (!w->is_32 || w->number != IOT_NR32(socketcall))
		return;
	w->number = which < ARRAY_SIZE(calls) && calls[which] ? calls[which] : -1;
	memset(w->args, 0, sizeof(w->args));
	w->args[0] = U32_MAX; /* the descriptor is not known */
#endif
}

/* restart_syscall(2): a signal has ended the call, and no handler ran. Of ours, only poll(2) */
static void resolve_restart(struct iot_waiting *w)
{
	const struct restart_block *block = &w->task->restart_block;

	if (w->number != (w->is_32 ? IOT_NR32(restart_syscall) : __NR_restart_syscall))
		return;
	w->number = -1;
	if (!restart_poll || (unsigned long)READ_ONCE(block->fn) != restart_poll)
		return;
	w->number = w->is_32 ? IOT_NR32(ppoll) : __NR_ppoll;
	w->poll = block;
}

/* Get the system call of the thread, if it is in one. Context: the task has its stack */
static bool get_call(struct iot_waiting *w)
{
	struct pt_regs *regs = task_pt_regs(w->task);

	w->number = syscall_get_nr(w->task, regs);
	if (w->number < 0)
		return false;
	w->is_32 = iot_syscall_is_32_of(w->task);
	iot_syscall_args(w->args, regs, w->is_32);
	resolve_socketcall(w);
	resolve_restart(w);
	return w->number >= 0;
}
#else
static bool get_call(struct iot_waiting *w)
{
	return false;
}
#endif

/**
 * iot_waiting_socket() - find the socket that a descriptor of the thread leads to
 *
 * Context: of iot_waiting_ops.note(), until whose end the socket stays.
 * Return: NULL if the descriptor leads to none.
 */
struct socket *iot_waiting_socket(const struct iot_waiting *w, u32 fd)
{
	struct file *file = NULL;

	if (fd < files_fdtable(w->files)->max_fds)
		file = files_lookup_fd_locked(w->files, fd);
	return file ? sock_from_file(file) : NULL;
}

/* Fill in the record if it is a call of the category. Context: the lock of the task is held */
static const struct iot_waiting_call *note_call(const struct iot_waiting_ops *ops,
						struct iot_waiting *w, void *record)
{
	const struct iot_waiting_call *call, *found = NULL;

	w->files = w->task->files;
	if (!w->files || !get_call(w))
		return NULL;
	for (call = ops->calls; !found && call < ops->calls + ops->nr_calls; call++) {
		if (w->number != (w->is_32 ? call->number32 : call->number))
			continue;
		spin_lock(&w->files->file_lock);
		if (ops->note(w, call, record))
			found = call;
		spin_unlock(&w->files->file_lock);
	}
	return found;
}

/* As the probes do when a call ends, but for what is not known before that: latency and size. */
static bool is_wanted(struct iot_category *c, struct task_struct *task,
		      const struct iot_waiting_call *call, const void *record)
{
	const struct iot_waiting_ops *ops = c->probes->waiting;
	struct iot_originator who = {};
	const struct iot_filter *f;
	bool wanted;

	preempt_disable_notrace();
	iot_task_fill_other(&who, task);
	f = rcu_dereference_sched(c->filter);
	wanted = !iot_category_leaves_out(c, who.pid);
	if (wanted && f)
		wanted = iot_filter_origin(f, &who) && iot_filter_op(f, call->op) &&
			 !(ops->rejects && ops->rejects(c, record));
	preempt_enable_notrace();
	return wanted;
}

/* Does a thread wait in a call of the category that its filter wants? */
static bool waits(struct iot_category *c, struct task_struct *task, void *record)
{
	struct iot_waiting w = { .task = task };
	const struct iot_waiting_call *call;
	unsigned long before, after;

	if (!is_asleep(task, &before) || !is_in_call(task))
		return false;
	task_lock(task);
	call = note_call(c->probes->waiting, &w, record);
	task_unlock(task);
	smp_rmb(); /* the registers are read before it is checked that they were of one call */
	return call && is_asleep(task, &after) && after == before &&
	       is_wanted(c, task, call, record);
}

/**
 * iot_waiting_next() - find a thread that waits in a call of a category, which has ->waiting
 * @nr:		thread id from which to look, in the initial pid namespace; set to that of the
 *		thread found, or from which to go on
 * @record:	of the category's event; filled in, but for what a call has when it ends
 *
 * Context: task, may sleep. Return: 1; 0 if there is no more; -ERESTARTSYS if a signal came.
 */
int iot_waiting_next(struct iot_category *c, int *nr, void *record)
{
	struct task_struct *task;
	bool found = false, more;

	for (;; ++*nr) {
		task = iot_thread_from(nr, &more);
		if (!more)
			return 0;
		if (task) {
			found = waits(c, task, record);
			put_task_struct(task);
		}
		if (found)
			return 1;
		cond_resched();
		if (signal_pending(current)) {
			++*nr;
			return -ERESTARTSYS;
		}
	}
}
