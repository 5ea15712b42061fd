/* SPDX-License-Identifier: GPL-2.0 */
/* Kretprobes, and how an ftrace handler passes calls to them. */
#ifndef IOT_KRETPROBE_H
#define IOT_KRETPROBE_H

#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include "compat/compat.h"

/**
 * struct iot_kretprobe_type - what a kretprobe does
 * @entry:	returns 0 if the return is wanted
 * @exit:	called at the return
 * @forget:	see struct iot_hook_type; may be NULL
 * @data_size:	bytes of instance data
 */
struct iot_kretprobe_type {
	kretprobe_handler_t entry;
	kretprobe_handler_t exit;
	void (*forget)(const struct kretprobe *krp);
	size_t data_size;
};

/**
 * iot_kretprobe_register() - register a kretprobe at a function
 * @krp:	initialized here
 * @addr:	address of the function
 * @flags:	0, or KPROBE_FLAG_DISABLED: no kprobe passes calls to it, only
 *		iot_kretprobe_follow()
 * @maxactive:	how many calls it follows at a time
 *
 * Context: task, may sleep. Return: 0 or an error.
 */
static inline int iot_kretprobe_register(struct kretprobe *krp, unsigned long addr, u32 flags,
					 const struct iot_kretprobe_type *type, int maxactive)
{
	memset(krp, 0, sizeof(*krp));
	krp->kp.addr = (kprobe_opcode_t *)addr;
	krp->kp.flags = flags;
	krp->entry_handler = type->entry;
	krp->handler = type->exit;
	krp->data_size = type->data_size;
	krp->maxactive = maxactive;
	return register_kretprobe(krp);
}

/** iot_kretprobe_args() - get the first @n arguments of a call. Context: entry handler */
static inline void iot_kretprobe_args(struct pt_regs *regs, unsigned long *args, unsigned int n)
{
	unsigned int i;

#pragma GCC unroll 8 /* each argument is then one load */
	for (i = 0; i < n; i++)
		args[i] = regs_get_kernel_argument(regs, i);
}

/**
 * iot_kretprobe_missed() - count the calls that a kretprobe could not follow
 * @armed:	a kprobe passes calls to it, so the calls that the kprobe misses count, too. The
 *		count of a disabled kprobe is not used: it includes calls that other kprobes on
 *		the function miss
 *
 * Context: any.
 */
static inline unsigned long iot_kretprobe_missed(const struct kretprobe *krp, bool armed)
{
	unsigned long missed = READ_ONCE(krp->nmissed);

	return armed ? missed + READ_ONCE(krp->kp.nmissed) : missed;
}

#ifdef IOT_REDIRECT
/**
 * iot_kretprobe_is_followable() - check whether an ftrace handler can see the calls of a function
 *
 * On arm64 ftrace and kprobes use different instructions, so this is not known here; ftrace
 * rejects a function that it does not know.
 */
static inline bool iot_kretprobe_is_followable(struct kretprobe *krp)
{
	return !IS_ENABLED(CONFIG_KPROBES_ON_FTRACE) || kprobe_ftrace(&krp->kp);
}

/**
 * iot_kretprobe_follow() - follow a call by its return address
 * @krp:	registered with KPROBE_FLAG_DISABLED
 * @regs:	registers that the ftrace handler got
 *
 * An enabled kretprobe does the same, but at the cost of a kprobe for every call of the function.
 * Here the ftrace handler passes only the calls that it wants to the pre_handler that
 * register_kretprobe() has set (kernel/kprobes.c). Preemption is off, as in a kprobe. There is no
 * guard against recursion as in a kprobe: no handler of ours calls a function that is followed.
 * Context: preemption off.
 */
static __always_inline void iot_kretprobe_follow(struct kretprobe *krp, struct iot_regs *regs)
{
	iot_regs_follow(regs, &krp->kp);
}
#endif

#endif /* IOT_KRETPROBE_H */
