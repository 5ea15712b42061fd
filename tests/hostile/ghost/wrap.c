// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the kernel's count of renames larger by @by. Each rename makes it larger by 2.
 */
#include <linux/dcache.h>
#include <linux/module.h>
#include <linux/seqlock.h>

static uint by;
module_param(by, uint, 0444);
MODULE_PARM_DESC(by, "even, at least 2");

static int __init wrap_init(void)
{
	if (by < 2 || by % 2)
		return -EINVAL;
	write_seqlock(&rename_lock); /* the lock counts 2 itself */
	rename_lock.seqcount.seqcount.sequence += by - 2;
	write_sequnlock(&rename_lock);
	return 0;
}

static void __exit wrap_exit(void)
{
}

module_init(wrap_init);
module_exit(wrap_exit);
MODULE_DESCRIPTION("Counts renames that nobody has made");
MODULE_LICENSE("GPL");
