/* SPDX-License-Identifier: GPL-2.0 */
/* How a function or a tracepoint is attached, and safely let go. */
#ifndef IOT_HOOK_H
#define IOT_HOOK_H

#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/tracepoint.h>
#include "compat/compat.h"

struct iov_iter;
struct kiocb;
struct seq_file;

#define IOT_HOOK_ARGS	5	/* arguments that a wrapper sees, and iot_hook_call() gives */

/* @caller: the address that the call returns to, 0: a function of ours */
typedef s64 (*iot_hook_wrapper_fn)(struct kiocb *iocb, struct iov_iter *iter,
				   unsigned long original, u64 cookie, unsigned long caller);

/**
 * struct iot_hook_type - what to do at the entry and return of a function
 * @name:	the file operation, for people
 * @ftrace:	entry handler that may redirect the call, NULL where there is none
 * @entry:	kretprobe entry handler: returns 0 when the return is wanted
 * @exit:	kretprobe return handler
 * @forget:	the kretprobe is going, and calls that it has seen begin may end
 *		without @exit: nothing may point to its instances from now on, and
 *		iot_hook_is_going() says so to @entry. May be NULL
 * @data_size:	bytes of kretprobe instance data
 * @wrapper_at:	the function, an iot_hook_wrapper_fn, to call in place of what @ftrace
 *		redirects to; rejects a call with IOT_HOOK_ALONE. Where there is @ftrace
 */
struct iot_hook_type {
	const char *name;
	ftrace_func_t ftrace;
	kretprobe_handler_t entry;
	kretprobe_handler_t exit;
	void (*forget)(const struct kretprobe *krp);
	size_t data_size;
	void *(*wrapper_at)(unsigned long ip);
};

/** struct iot_hook_point - a kernel tracepoint, found by name, and its probe */
struct iot_hook_point {
	const char *name;
	void *probe;
	struct tracepoint *tp;
	unsigned int users;
};

struct iot_hook;

/** iot_hook_args() - the first @n arguments of a call. Context: its kretprobe's entry */
static inline void iot_hook_args(struct pt_regs *regs, unsigned long *args, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		args[i] = regs_get_kernel_argument(regs, i);
}

/**
 * iot_hook_probe_missed() - calls that a kretprobe could not follow
 * @armed:	a kprobe gives it its calls, and has its own reasons to miss some; the
 *		misses of others' kprobes on the function are counted for a disabled one, too
 *
 * Context: any.
 */
static inline unsigned long iot_hook_probe_missed(const struct kretprobe *krp, bool armed)
{
	unsigned long missed = READ_ONCE(krp->nmissed);

	return armed ? missed + READ_ONCE(krp->kp.nmissed) : missed;
}

int iot_hook_init(void);
void iot_hook_exit(void);

struct iot_hook *iot_hook_get(const struct iot_hook_type *type, void *func,
			      bool may_redirect);
void iot_hook_put(struct iot_hook *hook);
int iot_hook_enable(struct iot_hook *hook);
void iot_hook_disable(struct iot_hook *hook);
void iot_hooks_put(struct iot_hook **hooks, unsigned int n);
int iot_hooks_enable(struct iot_hook **hooks, unsigned int n);
void iot_hooks_disable(struct iot_hook **hooks, unsigned int n);
unsigned long iot_hook_missed(const struct iot_hook *hook);
unsigned long iot_hook_refused(void);
bool iot_hook_is_going(const struct kretprobe *krp);

int iot_hook_point_get(struct iot_hook_point *point);
void iot_hook_point_put(struct iot_hook_point *point);
int iot_hook_points_get(struct iot_hook_point *points, size_t nr);
void iot_hook_points_put(struct iot_hook_point *points, size_t nr);

void iot_hook_show(struct seq_file *m);
unsigned long iot_hook_symbol(const char *name);
unsigned long iot_hook_data(const char *name);
bool iot_hook_is_blind(void);
#define IOT_HOOK_BLIND \
	"ftrace is off, and without it no call is seen; sysctl -w kernel.ftrace_enabled=1 turns it on"

/*
 * iot_hook_call() - call a function of up to five arguments from behind its entry
 * site, as iot_hook_symbol() and ftrace tell it: it need not have an ENDBR there
 */
#ifdef IOT_REDIRECT
s64 iot_hook_call(const unsigned long *args, unsigned long address);
#else
static inline s64 iot_hook_call(const unsigned long *args, unsigned long address)
{
	s64 (*func)(unsigned long a, unsigned long b, unsigned long c, unsigned long d,
		    unsigned long e) = (void *)address;

	return func(args[0], args[1], args[2], args[3], args[4]);
}
#endif

#ifdef IOT_REDIRECT
int iot_ftrace_attach(struct ftrace_ops *ops, ftrace_func_t func, unsigned long flags,
		      void *private, unsigned long *ips, unsigned int n);
bool iot_ftrace_detach(struct ftrace_ops *ops);

DECLARE_PER_CPU(long, iot_hook_inflight);
long iot_hook_calls(void);

/* The module is about to be unloaded: nothing is redirected (unload.c). */
extern bool iot_hook_closed;
void iot_hook_count_refused(void);

/**
 * iot_hook_refuses() - may this call, which is wanted, not be redirected now?
 *
 * It is counted as missed then. Context: the handler's, before the call is counted.
 */
static __always_inline bool iot_hook_refuses(void)
{
	if (likely(!READ_ONCE(iot_hook_closed)))
		return false;
	iot_hook_count_refused();
	return true;
}

/** iot_hook_key() - the same of a function and of its ftrace entry site */
static __always_inline unsigned long iot_hook_key(unsigned long addr)
{
	return addr >> 4; /* functions are aligned to 16, and the site is within that */
}

/**
 * iot_hook_follow() - follow a call by its return address
 * @krp:	registered with KPROBE_FLAG_DISABLED
 * @regs:	of the ftrace handler that looks at the call
 *
 * That is what a kretprobe does, but a kprobe's way to the entry of a function is long,
 * and every call goes it. Here the handler gives it those calls that it wants, through
 * the pre_handler that register_kretprobe() has set (kernel/kprobes.c), with preemption
 * off as there, but without a kprobe's guard against recursion: no handler of ours calls
 * a function that is followed. Context: preemption off.
 */
static __always_inline void iot_hook_follow(struct kretprobe *krp, struct pt_regs *regs)
{
	krp->kp.pre_handler(&krp->kp, regs);
}

ssize_t iot_hook_enter(void *arg1, void *arg2, unsigned long address);
s64 iot_hook_enter4(unsigned long arg1, unsigned long arg2, unsigned long arg3,
		    unsigned long arg4, unsigned long address);
void iot_hook_redirect_bare(struct pt_regs *regs, unsigned long ip);

/**
 * iot_hook_is_shared() - may somebody else's trampoline follow a handler?
 *
 * BPF's keeps no register but the function's arguments (arch/x86/net/bpf_jit_comp.c).
 * Then ftrace_regs_caller has all registers, the code segment among them, as it alone
 * goes on to a trampoline. Context: the handler's.
 */
static __always_inline bool iot_hook_is_shared(const struct pt_regs *regs)
{
	return regs->cs;
}

/**
 * iot_hook_redirect_plain() - send the call that an ftrace handler looks at elsewhere
 * @regs:	registers of the handler
 * @ip:		the handler's ip argument
 * @wrapper:	gets the call's two arguments, then @ip's way into the original
 *		for iot_hook_enter()
 *
 * The wrapper ends with iot_hook_leave(). From here to there it counts as in
 * flight, and the module's text stays. Not where the function is shared: a handler asks
 * iot_hook_is_shared() first, and leaves all of these to iot_hook_redirect_bare().
 * Return: is it sent?
 */
static __always_inline bool iot_hook_redirect_plain(struct pt_regs *regs, unsigned long ip,
						    void *wrapper)
{
	if (unlikely(iot_hook_refuses()))
		return false;
	this_cpu_inc(iot_hook_inflight);
	regs->dx = ip + MCOUNT_INSN_SIZE;
	regs->ip = (unsigned long)wrapper;
	return true;
}

/** iot_hook_redirect() - likewise; the wrapper gets @cookie, too */
static __always_inline void iot_hook_redirect(struct pt_regs *regs, unsigned long ip,
					      void *wrapper, u64 cookie)
{
	if (iot_hook_redirect_plain(regs, ip, wrapper))
		regs->cx = cookie;
}

static __always_inline void iot_hook_leave(void)
{
	this_cpu_dec(iot_hook_inflight);
}
#endif

#endif /* IOT_HOOK_H */
