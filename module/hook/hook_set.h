/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A set of hooks: the many functions that a category attaches and detaches at once. Functions
 * with the same handler share an ftrace_ops, so the kernel patches its text and waits for RCU
 * once and not for each function.
 */
#ifndef IOT_HOOK_SET_H
#define IOT_HOOK_SET_H

#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/rculist.h>
#include "compat/compat.h"
#include "hook/site.h"

struct iot_point;
struct seq_file;

/* The prototype of all system calls on x86-64. */
#define IOT_HOOK_SYSCALL	"long (struct pt_regs *)"

#define IOT_HOOK_SET_BITS	9

/**
 * struct iot_hook_set - static, for the life of the module
 * @sites:	@nr sites; they stay, and so do the addresses of the kernel's own functions
 * @wants:	returns the verdict on a call. Context: entry of the function, preemption
 *		on, must not sleep. @caller is the address that the call returns to
 * @call:	wrapper: calls the function with iot_hook_call() and does the work before and
 *		after that; returns the function's result or IOT_HOOK_PASS_THROUGH. NULL: the set
 *		only observes. Then @wants never returns IOT_HOOK_FOLLOW for a bounded site, and
 *		others may redirect the same functions.
 *		Context: that of the function; may sleep if the function may
 * @entry:	kretprobe entry handler. It makes the same decision as @wants, since it may
 *		be the first to see a call. iot_site_of() returns its site
 * @exit:	kretprobe return handler
 * @data_size:	bytes of kretprobe instance data
 * @unguarded:	may redirect without iot_redirect_open(): only the set of unload.c
 */
struct iot_hook_set {
	struct iot_site *sites;
	unsigned int nr;
	enum iot_hook_verdict (*wants)(const struct iot_site *site,
				       const unsigned long *args, unsigned long caller);
	s64 (*call)(const struct iot_site *site, unsigned long *args);
	kretprobe_handler_t entry;
	kretprobe_handler_t exit;
	size_t data_size;
	bool unguarded;

	/* private to hook_set.c */
	struct list_head list;
	bool redirects;			/* calls may be redirected */
	bool checked;			/* prototypes of the kernel's own functions are checked */
	struct list_head groups;	/* functions that share an ftrace_ops */
	struct iot_hook_probe *probes;	/* one per site */
	struct kretprobe **scratch;	/* array for all kretprobes, to unregister many at once */
	struct hlist_head table[1 << IOT_HOOK_SET_BITS];
};

int iot_hook_set_attach(struct iot_hook_set *set);
void iot_hook_set_detach(struct iot_hook_set *set);
int iot_hook_set_start(struct iot_hook_set *set, struct iot_point *points, size_t nr);
void iot_hook_set_stop(struct iot_hook_set *set, struct iot_point *points, size_t nr);
unsigned long iot_hook_set_own_missed(const struct iot_hook_set *set);
unsigned long iot_hook_set_missed(const struct iot_hook_set *set);
void iot_hook_set_show(struct seq_file *m);
void iot_hook_set_module_coming(const char *module);
void iot_hook_set_module_going(const char *module);

const struct iot_site *iot_site_of(struct kretprobe_instance *ri);

#ifdef IOT_REDIRECT
void iot_hook_set_handle(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs);
void iot_site_follow(const struct iot_site *site, struct iot_regs *regs);

/**
 * iot_hook_set_find() - find the site of a function that a set hooks once
 * @ip:		ip argument of the ftrace handler
 *
 * Return: the site, or NULL if it has just been removed. Context: ftrace handler.
 */
static __always_inline struct iot_site *iot_hook_set_find(struct iot_hook_set *set,
							  unsigned long ip)
{
	unsigned long entry = iot_redirect_entry_of(ip);
	struct iot_site *site;

	hlist_for_each_entry_rcu_notrace(site, &set->table[hash_long(entry, IOT_HOOK_SET_BITS)],
					 node)
		if (site->entry == entry)
			return site;
	return NULL;
}

#define IOT_HOOK_OWN(handler)	(handler)
#else
#define IOT_HOOK_OWN(...)	NULL
#endif

#endif /* IOT_HOOK_SET_H */
