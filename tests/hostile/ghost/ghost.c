// SPDX-License-Identifier: GPL-2.0
/*
 * A module laid out like btrfs.c: at the address of its function there is another one,
 * whose arguments are not pointers. Each write(2) to the device calls it.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uio.h>

long ghost_sum(long a, long b);

noinline long ghost_sum(long a, long b)
{
	return READ_ONCE(a) + READ_ONCE(b);
}

static long sum;
module_param(sum, long, 0444);

static ssize_t write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	size_t n = iov_iter_count(from);

	sum = ghost_sum(sum, n);
	iov_iter_advance(from, n);
	return n;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.write_iter = write_iter,
	.llseek = noop_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ghost",
	.fops = &fops,
};

module_misc_device(device);
MODULE_DESCRIPTION("Another function at the address of one that was looked at");
MODULE_LICENSE("GPL");
