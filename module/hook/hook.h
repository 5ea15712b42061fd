/* SPDX-License-Identifier: GPL-2.0 */
/* Hooks of single functions, which targets and category fs find by their address. */
#ifndef IOT_HOOK_H
#define IOT_HOOK_H

#include <linux/kprobes.h>
#include "compat/compat.h"

struct iov_iter;
struct kiocb;

/*
 * @caller: the address that the call returns to; 0 if the call came through a stub. All wrappers
 * have exactly this prototype: a kernel with kCFI checks that.
 */
typedef s64 (*iot_hook_wrapper_fn)(struct kiocb *iocb, struct iov_iter *iter,
				   unsigned long original, u64 cookie, unsigned long caller);

/**
 * struct iot_hook_type - what to do at the entry and return of a function
 * @name:	the file operation, as it is shown to users
 * @ftrace:	entry handler that may redirect the call, may be NULL
 * @entry:	kretprobe entry handler; returns 0 if the return is wanted
 * @exit:	kretprobe return handler
 * @forget:	called before the kretprobe is detached: calls that @entry has seen
 *		may end without @exit. From now on nothing may point to its instances,
 *		and iot_hook_is_going() is true in @entry. May be NULL
 * @data_size:	bytes of kretprobe instance data
 * @wrapper_at:	returns the iot_hook_wrapper_fn to call instead of the address that
 *		@ftrace redirects to. It rejects a call with IOT_HOOK_PASS_THROUGH.
 *		Required if there is @ftrace
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

struct iot_hook;

int iot_hook_init(void);
void iot_hook_exit(void);

struct iot_hook *iot_hook_get(const struct iot_hook_type *type, void *func,
			      bool may_redirect);
void iot_hook_put(struct iot_hook *hook);
int iot_hook_enable(struct iot_hook *hook);
void iot_hooks_put(struct iot_hook **hooks, unsigned int n);
int iot_hooks_enable(struct iot_hook **hooks, unsigned int n);
void iot_hooks_disable(struct iot_hook **hooks, unsigned int n);
unsigned long iot_hook_missed(const struct iot_hook *hook);

#ifdef IOT_REDIRECT
void iot_hook_send_bare(struct iot_regs *regs, unsigned long ip);
#endif

#endif /* IOT_HOOK_H */
