/* SPDX-License-Identifier: GPL-2.0 */
/* The engine that attaches sites: engine.c tells what a site is, and how it lives. */
#ifndef IOT_ENGINE_H
#define IOT_ENGINE_H

#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/rculist.h>
#include "compat/compat.h"
#include "hook/kretprobe.h"
#include "hook/site.h"

struct seq_file;

#define IOT_HOOK_SET_BITS	9

/**
 * struct iot_hook_set - sites whose calls are handled alike; static, for the life of the module
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

	/* private to the hook floor */
	bool single;			/* sites come and go one at a time: hook.c */
	bool checked;			/* prototypes of the kernel's own functions are checked */
	ftrace_func_t handle;		/* handles the calls of sites without their own handler */
	struct iot_kretprobe_type returns;
	struct hlist_head table[1 << IOT_HOOK_SET_BITS];	/* attached sites, by entry */
};

static __always_inline struct hlist_head *iot_hook_set_bucket(struct iot_hook_set *set,
							      unsigned long entry)
{
	return &set->table[hash_long(entry, IOT_HOOK_SET_BITS)];
}

void iot_engine_lock(void);
void iot_engine_unlock(void);

extern struct list_head iot_sites;
void iot_site_add(struct iot_site *site);
void iot_site_remove(struct iot_site *site);

int iot_sites_attach(struct list_head *list);
void iot_sites_detach(struct list_head *list);
int iot_sites_attach_modules(struct iot_hook_set *set, const char *module);
void iot_sites_detach_modules(const struct iot_hook_set *set, const char *module);
void iot_sites_module_coming(const char *module);
void iot_sites_module_going(const char *module);

const struct iot_site *iot_site_of(struct kretprobe_instance *ri);
bool iot_hook_is_going(const struct kretprobe *krp);
#ifdef IOT_REDIRECT
void iot_site_follow(const struct iot_site *site, struct iot_regs *regs);
#endif

void iot_site_miss(struct iot_site *site);
unsigned long iot_sites_missed(const struct iot_site *sites, unsigned int n);
void iot_sites_show(struct seq_file *m, bool single);

#endif /* IOT_ENGINE_H */
