/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of hooks: many functions that a category finds by name, and attaches at once. */
#ifndef IOT_HOOK_SET_H
#define IOT_HOOK_SET_H

#include "hook/engine.h"

struct iot_point;

/* The prototype of all system calls on x86-64. */
#define IOT_HOOK_SYSCALL	"long (struct pt_regs *)"

int iot_hook_set_attach(struct iot_hook_set *set);
void iot_hook_set_detach(struct iot_hook_set *set);
int iot_hook_set_start(struct iot_hook_set *set, struct iot_point *points, size_t nr);
void iot_hook_set_stop(struct iot_hook_set *set, struct iot_point *points, size_t nr);
unsigned long iot_hook_set_own_missed(const struct iot_hook_set *set);
unsigned long iot_hook_set_missed(const struct iot_hook_set *set);

#ifdef IOT_REDIRECT
void iot_hook_set_handle(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs);

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

	hlist_for_each_entry_rcu_notrace(site, iot_hook_set_bucket(set, entry), node)
		if (site->entry == entry)
			return site;
	return NULL;
}

#define IOT_HOOK_OWN(handler)	(handler)
#else
#define IOT_HOOK_OWN(...)	NULL
#endif

#endif /* IOT_HOOK_SET_H */
