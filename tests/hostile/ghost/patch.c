// SPDX-License-Identifier: GPL-2.0
/*
 * A livepatch that makes truncate(2) fail with EUCLEAN, which no filesystem of the tests returns.
 */
#include <linux/livepatch.h>
#include <linux/module.h>

static long patched_truncate(const struct pt_regs *regs)
{
	return -EUCLEAN;
}

static struct klp_func funcs[] = {
	{ .old_name = "__x64_sys_truncate", .new_func = patched_truncate },
	{ }
};

static struct klp_object objs[] = {
	{ .funcs = funcs },
	{ }
};

static struct klp_patch patch = {
	.mod = THIS_MODULE,
	.objs = objs,
};

static int __init patch_init(void)
{
	return klp_enable_patch(&patch);
}

static void __exit patch_exit(void)
{
}

module_init(patch_init);
module_exit(patch_exit);
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("truncate(2) fails");
MODULE_LICENSE("GPL");
