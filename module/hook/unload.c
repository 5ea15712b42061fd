// SPDX-License-Identifier: GPL-2.0
/*
 * Decides whether the module can be unloaded now.
 *
 * A redirected call has a frame of our text on its stack until it returns. It may never return:
 * it may wait for memory that userfaultfd serves, or for a server that is gone. The kernel does
 * not consult a module before it unloads it, and an exit function cannot fail. It would have to
 * wait for that call, in D state, for ever.
 *
 * So delete_module(2) itself is hooked, from the first redirection on. A call that names this
 * module, by a task that may unload modules, closes the redirection: wanted calls pass through
 * untraced and are counted as missed. Calls in flight have MAX_WAIT_MS to return. If all have
 * returned, the system call continues with nothing of ours on its stack. As nothing is
 * redirected any more, the exit function does not have to wait. If a call has not returned, the
 * system call fails with EBUSY, the kernel log names the tasks, and tracing continues as before.
 *
 * The same holds for tasks inside calls on files of /proc/iotracer (core/visit.c). They hold
 * the module, so the kernel would refuse with EAGAIN and name no task. This is checked when no
 * call is in flight any more: tasks that are then kept out do not wait inside a redirected call.
 *
 * The kernel may refuse to unload the module for reasons of its own. Then the system call returns
 * while the module is still loaded. So the task gets work that it does before it returns to its
 * program, or exits: that opens the redirection again. Our exit function, which the same task runs,
 * takes the work back. Nothing of this can run out, as the instances of a return probe could.
 */
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/task_work.h>
#include <linux/uaccess.h>
#include "core/param.h"
#include "core/visit.h"
#include "hook/enter.h"
#include "hook/hook_set.h"
#include "hook/redirect.h"
#include "hook/symbol.h"
#include "hook/unload.h"

#ifdef IOT_REDIRECT
#define MAX_WAIT_MS	3000
#define STEP_MS		20
#define MAX_NAMED	8	/* tasks that the log names */
#define MAX_DEPTH	48	/* entries of a stack that are searched */

static DEFINE_MUTEX(guard_lock);	/* protects @guarded */
static bool guarded;
static struct task_struct *unloader;	/* the one task that may unload the module now, or NULL */
static atomic_t naming;			/* tasks that read the name of a module */
static unsigned long cancel_match;	/* task_work_cancel_match(), kernel/task_work.c */

/* Read a name from the program's memory, which may never be available. Return: as below. */
static long read_name(char name[MODULE_NAME_LEN], const char __user *user)
{
	return strncpy_from_user(name, user, MODULE_NAME_LEN);
}

/* As above, if the memory is there. Return: length, MODULE_NAME_LEN if it is longer, or -EFAULT. */
static long read_present_name(char name[MODULE_NAME_LEN], const char __user *user)
{
	unsigned int n;

	for (n = 0; n < MODULE_NAME_LEN; n++) {
		if (copy_from_user_nofault(&name[n], user + n, 1))
			return -EFAULT;
		if (!name[n])
			break;
	}
	return n;
}

/*
 * Does @user, the first argument of the system call, name this module? While a task may unload it,
 * no other one begins to wait for its own memory: a name that is not there may be ours.
 * Return: 1, 0 or -EBUSY.
 */
static int is_about_us(unsigned long user)
{
	const char __user *from = (const char __user *)user;
	char name[MODULE_NAME_LEN];
	bool present_only;
	long len;

	atomic_inc(&naming);
	smp_mb__after_atomic(); /* either this sees the unloader, or the unloader sees this */
	present_only = READ_ONCE(unloader);
	len = present_only ? read_present_name(name, from) : read_name(name, from);
	atomic_dec(&naming);
	if (len < 0)
		return present_only ? -EBUSY : 0;
	return len > 0 && len < sizeof(name) && !strcmp(name, THIS_MODULE->name);
}

/* Is @addr in a kernel function that calls our file operations or work items, but no hooks? */
static bool is_our_caller(unsigned long addr)
{
	static const char * const callers[] = { "proc_reg_", "seq_", "process_one_work" };
	char symbol[KSYM_SYMBOL_LEN];
	size_t i;

	sprint_symbol(symbol, addr);
	for (i = 0; i < ARRAY_SIZE(callers); i++)
		if (!strncmp(symbol, callers[i], strlen(callers[i])))
			return true;
	return false;
}

/*
 * Get the stack of a sleeping task, innermost entry first. pi_lock keeps the task from being
 * woken meanwhile, as in get_wchan() (kernel/sched/core.c): 6.1 warns if the stack of a running
 * task is read while a kretprobe follows one of its calls. Return: number of entries, 0 if the
 * task does not sleep.
 */
static unsigned int stack_of(struct task_struct *task, unsigned long save,
			     unsigned long entries[MAX_DEPTH])
{
	unsigned long args[IOT_CALL_ARGS] = {
		(unsigned long)task, (unsigned long)entries, MAX_DEPTH
	};
	unsigned int state, n = 0;

	raw_spin_lock_irq(&task->pi_lock);
	state = READ_ONCE(task->__state);
	smp_rmb(); /* read the state before on_rq: see try_to_wake_up() */
	if (state != TASK_RUNNING && state != TASK_WAKING && !task->on_rq)
		n = iot_hook_call(args, save);
	raw_spin_unlock_irq(&task->pi_lock);
	return n;
}

/* Return: an address in the traced function that a sleeping task is in, or 0. */
static unsigned long followed_function(struct task_struct *task, unsigned long save)
{
	unsigned long entries[MAX_DEPTH], followed = 0;
	unsigned int i, n = stack_of(task, save, entries);

	for (i = 1; i < n; i++) {
		if (within_module(entries[i], THIS_MODULE)) {
			followed = followed ?: entries[i - 1];
			continue;
		}
		if (followed && within_module(entries[i - 1], THIS_MODULE) &&
		    is_our_caller(entries[i]))
			followed = 0;
	}
	return followed;
}

/*
 * Report the tasks that have a call in flight. Uses stack_trace_save_tsk(task, entries, size,
 * skip), kernel/stacktrace.c. Return: number of such tasks.
 */
static unsigned int name_callers(void)
{
	unsigned long function;
	unsigned long save = iot_symbol_checked("stack_trace_save_tsk",
					       "int (struct task_struct *, long *, int, int)");
	struct task_struct *process, *task;
	unsigned int n = 0;

	rcu_read_lock();
	for_each_process_thread(process, task) {
		if (task == current || !save)
			continue;
		function = followed_function(task, save);
		if (!function || n++ >= MAX_NAMED)
			continue;
		pr_err("cannot be unloaded yet: %*pE (process %d, thread %d) is inside a traced call of %ps; it has to return, or be killed, first\n",
		       (int)strnlen(task->comm, sizeof(task->comm)), task->comm,
		       task_tgid_nr(task), task_pid_nr(task), (void *)function);
	}
	rcu_read_unlock();
	if (n > MAX_NAMED)
		pr_err("cannot be unloaded yet: %u more tasks are inside traced calls\n",
		       n - MAX_NAMED);
	return n;
}

/* Report the tasks that prevent unloading. */
static void name_tasks(void)
{
	unsigned int n = name_callers() + iot_visits_name(MAX_NAMED);

	if (!n)
		pr_err("cannot be unloaded yet: tasks are inside traced calls, or use /proc/iotracer\n");
}

/*
 * From here on nothing is redirected. A handler may have read the flag before it was set: waiting
 * for RCU tasks ensures that it has counted its call.
 */
static void close_redirection(void)
{
	WRITE_ONCE(iot_redirect_closed, true);
	synchronize_rcu_tasks();
}

static void open_redirection(void)
{
	iot_visits_go_on();
	WRITE_ONCE(iot_redirect_closed, false);
	smp_store_release(&unloader, NULL); /* last: another task may now close it */
}

/*
 * Wait until no call is in flight except those of delete_module(2), of which the current one
 * is one, and no task is inside /proc/iotracer. If true, none come until open_redirection().
 */
static bool others_left(void)
{
	unsigned long end = jiffies + msecs_to_jiffies(MAX_WAIT_MS);

	while (iot_redirect_count() || atomic_read(&naming) || !iot_visits_stop()) {
		if (time_after(jiffies, end) || fatal_signal_pending(current))
			return false;
		msleep(STEP_MS);
	}
	return true;
}

/* Done by the unloader when the system call has returned and the module is still loaded. */
static void was_refused(struct callback_head *work)
{
	open_redirection();
}

static struct callback_head refused = { .func = was_refused };

static bool is_refused(struct callback_head *work, void *unused)
{
	return work == &refused;
}

/* Take the work back: the module is unloaded. Context: exit function. */
static void cancel_refused(void)
{
	unsigned long args[IOT_CALL_ARGS] = { (unsigned long)current, (unsigned long)is_refused };

	if (READ_ONCE(unloader) == current)
		iot_hook_call(args, cancel_match);
}

/* Return: IOT_HOOK_PASS_THROUGH if the system call may continue, or an error. */
static s64 prepare_unload(void)
{
	if (cmpxchg(&unloader, NULL, current))
		return -EBUSY;
	close_redirection();
	if (!others_left()) {
		name_tasks();
		open_redirection();
		return -EBUSY;
	}
	if (!task_work_add(current, &refused, TWA_RESUME))
		return IOT_HOOK_PASS_THROUGH;
	open_redirection(); /* it is exiting */
	return -EBUSY;
}

/*
 * The wrapper of delete_module(2), whose argument is the registers of the caller. @tag is 1 if it
 * is a 32-bit program. Context: task, may sleep.
 */
static s64 call(const struct iot_site *site, unsigned long *args)
{
	const struct pt_regs *regs = (const struct pt_regs *)args[0];
	unsigned long name = site->tag ? iot_syscall_arg32(regs, 0) : iot_syscall_arg(regs, 0);
	int about_us;

	about_us = capable(CAP_SYS_MODULE) ? is_about_us(name) : 0;
	if (about_us < 0)
		return about_us;
	return about_us ? prepare_unload() : IOT_HOOK_PASS_THROUGH;
}

/* If the call cannot be redirected, it is not followed either. */
static int entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 1;
}

static enum iot_hook_verdict wants(const struct iot_site *site, const unsigned long *args,
				   unsigned long caller)
{
	return IOT_HOOK_FOLLOW;
}

enum {
	SITE_NATIVE,
#ifdef IOT_SYSCALL_32
	SITE_32,
#endif
	NR_SITES
};

static struct iot_site sites[NR_SITES];

/* Context: entry of the system call, task, preemption on; must not sleep. */
static void handler(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		    struct ftrace_regs *fregs)
{
	struct iot_site *site = &sites[NR_SITES - 1];
	struct iot_regs *regs = iot_ftrace_regs(fregs);

	if (site->entry != iot_redirect_entry_of(ip))
		site = &sites[SITE_NATIVE];
	iot_site_send(site, ip, regs);
}

#define SITE(prefix, is_32)						\
	{ .symbol = prefix "delete_module", .what = "unload", .proto = IOT_HOOK_SYSCALL,	\
	  .tag = (is_32), .handler = handler }

static struct iot_site sites[NR_SITES] = {
	[SITE_NATIVE] = SITE(IOT_SYSCALL, 0),
#ifdef IOT_SYSCALL_32
	[SITE_32] = SITE(IOT_SYSCALL_32, 1),
#endif
};

static struct iot_hook_set set = {
	.sites = sites,
	.nr = ARRAY_SIZE(sites),
	.wants = wants,
	.call = call,
	.entry = entry,
	.unguarded = true,
};

#define CANCEL_PROTO	"struct callback_head * (struct task_struct *, function *, void *)"

static int attach_guard(void)
{
	int err;

	cancel_match = iot_symbol_checked("task_work_cancel_match", CANCEL_PROTO);
	err = cancel_match ? iot_hook_set_start(&set, NULL, 0) : -EOPNOTSUPP;
	if (!err && sites[SITE_NATIVE].mechanism == IOT_HOOK_REDIRECT)
		return 0;
	if (err && cancel_match)
		return err;
	if (!err)
		iot_hook_set_stop(&set, NULL, 0);
	pr_warn("cannot hook delete_module: functions are hooked by kretprobes, which are slower\n");
	return -EOPNOTSUPP;
}

/* Hook delete_module(2) until iot_unload_exit(). See iot_redirect_open(). */
static int need_guard(void)
{
	int err = 0;

	mutex_lock(&guard_lock);
	if (!guarded)
		err = attach_guard();
	if (!err)
		guarded = true;
	mutex_unlock(&guard_lock);
	return err;
}

/** iot_unload_init() - arrange that the first redirection hooks delete_module(2). Context: load */
void iot_unload_init(void)
{
	iot_redirect_set_guard(need_guard);
}

/** iot_unload_exit() - unhook delete_module(2). Context: unload, no other task is in this file */
void iot_unload_exit(void)
{
	cancel_refused();
	if (guarded)
		iot_hook_set_stop(&set, NULL, 0);
	guarded = false;
}
#endif
