// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that an ftrace handler redirects, and their count.
 *
 * A redirected call is counted per CPU by the handler, before it enters our text, and
 * uncounted as the wrapper's last act. Unloading begins only where the sum is zero, or soon
 * is (unload.c), and then waits for RCU tasks, so that a task preempted between that last
 * act and its return has left our text too.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include "hook/redirect.h"

#ifdef IOT_REDIRECT
DEFINE_PER_CPU(long, iot_redirect_in_flight);

/*
 * Calls do not begin while this runs, as nothing is hooked any more: each summand is
 * read at its own moment, but never below its final value. But for those of call_bare(),
 * which counts twice for a moment: so 0 may be said while one has yet to leave, without
 * sleeping, and iot_redirect_drain() waits for that.
 */
long iot_redirect_count(void)
{
	long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(iot_redirect_in_flight, cpu));
	return sum;
}

/* What unload.c has waited for with a bound; what it redirected itself leaves at once. */
void iot_redirect_drain(void)
{
	while (iot_redirect_count())
		msleep(20);
	synchronize_rcu_tasks();
}

bool iot_redirect_closed;
static atomic_long_t nr_refused;

/** iot_redirect_count_refused() - a call passes untraced. Context: any */
void iot_redirect_count_refused(void)
{
	atomic_long_inc(&nr_refused);
}

static int (*open_guard)(void);	/* set once, at load */

/** iot_redirect_set_guard() - what iot_redirect_open() calls. Context: load */
void iot_redirect_set_guard(int (*guard)(void))
{
	open_guard = guard;
}

/**
 * iot_redirect_open() - to be called before functions are redirected
 *
 * From then on the module can be unloaded only when no call is redirected (unload.c).
 * Context: task, may sleep: the first call patches text. Return: 0, -ENOMEM, or
 * -EOPNOTSUPP: nothing may be redirected.
 */
int iot_redirect_open(void)
{
	return open_guard();
}

/* -EAGAIN: BPF is at one of the functions just now (bpf_tramp_ftrace_ops_func()). */
static int register_patiently(struct ftrace_ops *ops)
{
	unsigned int tries;
	int err;

	for (tries = 0; tries < 50; tries++) {
		err = register_ftrace_function(ops);
		if (err != -EAGAIN)
			break;
		msleep(20);
	}
	return err;
}

/**
 * iot_redirect_attach() - have a handler look at functions
 * @ops:	filled here
 * @func:	the handler
 * @flags:	FTRACE_OPS_FL_* besides PERMANENT: without ftrace we are blind
 * @private:	for the handler
 * @ips:	the functions
 * @n:		of them; none: nothing is attached
 *
 * Context: task, may sleep. Return: 0 or an error; then nothing is attached.
 */
int iot_redirect_attach(struct ftrace_ops *ops, ftrace_func_t func, unsigned long flags,
		      void *private, unsigned long *ips, unsigned int n)
{
	int err;

	/* ftrace_free_filter() leaves pointers to what it has freed */
	memset(ops, 0, sizeof(*ops));
	ops->func = func;
	ops->private = private;
	ops->flags = FTRACE_OPS_FL_PERMANENT | flags;
	if (!n) /* no filter would be every function */
		return 0;
	err = ftrace_set_filter_ips(ops, ips, n, 0, 1);
	if (!err)
		err = register_patiently(ops);
	if (err) {
		ftrace_free_filter(ops);
		ops->flags = 0; /* ENABLED is left where ftrace has given itself up */
	}
	return err;
}

/**
 * iot_redirect_detach() - undo it, if it is done; no handler runs any more then
 *
 * Return: false: ftrace has given itself up, and may still look at @ops.
 */
bool iot_redirect_detach(struct ftrace_ops *ops)
{
	if (!(ops->flags & FTRACE_OPS_FL_ENABLED))
		return true;
	if (unregister_ftrace_function(ops))
		return false;
	ftrace_free_filter(ops);
	return true;
}
#endif

/**
 * iot_redirect_refused() - wanted calls that passed untraced while the module was to be
 * unloaded and, in the end, was not
 *
 * They are not told apart by hook. Context: any.
 */
unsigned long iot_redirect_refused(void)
{
#ifdef IOT_REDIRECT
	return atomic_long_read(&nr_refused);
#else
	return 0;
#endif
}
