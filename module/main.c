// SPDX-License-Identifier: GPL-2.0
/* Load and unload. */
#include <linux/module.h>
#include "core/budget.h"
#include "core/param.h"
#include "core/table.h"
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/symbol.h"
#include "file/mounts.h"
#include "file/originator.h"
#include "file/paths.h"
#include "record/categories.h"
#include "probe/names.h"
#include "probe/vfs.h"
#include "probe/vfs_async.h"
#include "proc/entry_link.h"
#include "proc/control.h"
#include "proc/wide_target.h"
#include "proc/follow.h"
#include "proc/left_out.h"
#include "proc/mask.h"
#include "proc/registry.h"
#include "proc/target.h"
#include "proc/text.h"

static int __init iotracer_init(void)
{
	int err;

	err = iot_param_init();
	if (err)
		return err;
	iot_left_out_report();
	iot_mask_init();
	err = iot_text_init();
	if (err)
		goto exit_text;
	err = iot_budget_init();
	if (err)
		goto exit_text;
	err = iot_symbol_init();
	if (err)
		goto exit_budget;
	err = iot_hook_init();
	if (err)
		goto exit_symbol;
	err = iot_paths_init(iot_categories_mark_paths);
	if (err)
		goto exit_hook;
	err = iot_name_init();
	if (err)
		goto exit_paths;
	iot_mounts_init();
	iot_table_init();
	iot_vfs_init();
	err = iot_target_init(iot_control_has);
	if (err)
		goto exit_name;
	err = iot_entry_link_init();
	if (err)
		goto exit_target;
	err = iot_follow_init();
	if (err)
		goto exit_alias;
	err = iot_registry_init();
	if (err)
		goto free_categories;
	err = iot_control_init();
	if (err)
		goto exit_categories;
	return 0;

exit_categories:
	iot_categories_exit();
free_categories:
	iot_categories_free();
	iot_follow_exit();
exit_alias:
	iot_entry_link_exit();
exit_target:
	iot_target_exit();
exit_name:
	iot_name_exit();
exit_paths:
	iot_paths_exit();
exit_hook:
	iot_hook_exit();
exit_symbol:
	iot_symbol_exit();
exit_budget:
	iot_budget_exit();
exit_text:
	iot_text_exit();
	return err;
}

/*
 * Removing /proc/iotracer first waits for its readers and writers and prevents new requests.
 * Stopping the categories and removing the targets releases the hooks. iot_hook_exit() waits
 * until no CPU is inside a hook. What the hooks used is freed after that, here or by RCU.
 */
static void __exit iotracer_exit(void)
{
	iot_control_exit();
	iot_categories_exit();
	iot_wide_remove_all();
	iot_categories_stop();
	iot_target_remove_all();
	iot_follow_exit();
	iot_entry_link_exit();
	iot_hook_exit();
	iot_async_exit();
	iot_categories_free();
	iot_originator_exit();
	iot_mounts_exit();
	iot_target_exit();
	iot_name_exit();
	iot_paths_exit();
	iot_symbol_exit();
	iot_budget_exit();
	iot_text_exit();
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
