// SPDX-License-Identifier: GPL-2.0
/* Load and unload. */
#include <linux/kernel.h>
#include <linux/module.h>
#include "core/aside.h"
#include "core/budget.h"
#include "core/param.h"
#include "core/table.h"
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/symbol.h"
#include "file/bio.h"
#include "file/mounts.h"
#include "file/originator.h"
#include "file/paths.h"
#include "record/categories.h"
#include "probe/fs_name.h"
#include "probe/vfs.h"
#include "probe/vfs_async.h"
#include "proc/entry_link.h"
#include "proc/control.h"
#include "proc/scope_target.h"
#include "proc/follow.h"
#include "proc/left_out.h"
#include "proc/mask.h"
#include "proc/registry.h"
#include "proc/target.h"
#include "proc/text.h"

/* What needs nothing and cannot fail. */
static int prepare(void)
{
	iot_left_out_report();
	iot_mask_init();
	iot_table_init();
	iot_mounts_init();
	return 0;
}

/* Find functions of the kernel. The module does without those that are missing. */
static int find_functions(void)
{
	iot_bio_init();
	iot_vfs_init();
	return 0;
}

static int init_paths(void)
{
	return iot_paths_init(iot_categories_mark_paths);
}

static int init_targets(void)
{
	return iot_target_init(iot_control_has);
}

/*
 * What loading makes, in this order; unloading undoes it from the end, as loading does when it
 * fails. A part that fails leaves nothing behind.
 *
 * /proc/iotracer is made last, and no task is let in before nothing can fail any more. It is
 * removed first, which waits for tasks inside. Then the targets are removed and the categories are
 * stopped, which releases all hooks. iot_hook_exit() waits until no CPU is inside a hook. What
 * hooks use is above it in the list, so that it is freed after that, or by RCU.
 */
static const struct part {
	int (*init)(void);
	void (*exit)(void);
} parts[] = {
	{ iot_param_init, NULL },
	{ prepare, NULL },
	{ iot_text_init, iot_text_exit },
	{ iot_aside_init, iot_aside_exit },
	{ iot_budget_init, iot_budget_exit },
	{ iot_symbol_init, iot_symbol_exit },
	{ find_functions, NULL },
	{ init_paths, iot_paths_exit },
	{ iot_name_buffers_init, iot_name_buffers_exit },
	{ init_targets, iot_target_exit },
	{ NULL, iot_mounts_exit },
	{ NULL, iot_originator_exit },
	{ iot_registry_init, iot_categories_free },
	{ NULL, iot_async_exit },
	{ iot_hook_init, iot_hook_exit },
	{ iot_entry_link_init, iot_entry_link_exit },
	{ iot_follow_init, iot_follow_exit },
	{ NULL, iot_target_remove_all },
	{ NULL, iot_categories_stop },
	{ NULL, iot_scope_target_remove_all },
	{ iot_categories_follow_cpus, iot_categories_unfollow_cpus },
	{ iot_control_init, iot_control_exit },
};

/* Undo the first @nr parts. */
static void undo(size_t nr)
{
	while (nr--)
		if (parts[nr].exit)
			parts[nr].exit();
}

static int __init iotracer_init(void)
{
	size_t nr;
	int err;

	for (nr = 0; nr < ARRAY_SIZE(parts); nr++) {
		err = parts[nr].init ? parts[nr].init() : 0;
		if (err) {
			undo(nr);
			return err;
		}
	}
	return 0;
}

static void __exit iotracer_exit(void)
{
	undo(ARRAY_SIZE(parts));
}

module_init(iotracer_init);
module_exit(iotracer_exit);

MODULE_AUTHOR("The iotracer developers");
MODULE_DESCRIPTION("Traces the reads and writes of chosen files at VFS and block level");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
#ifdef IOT_POISON
MODULE_INFO(slots, "poisoned");
#endif
