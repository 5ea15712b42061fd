// SPDX-License-Identifier: GPL-2.0
/*
 * A module named btrfs, with a character device whose writes call a function that category
 * cache hooks. It has nothing else in common with btrfs, so tests can unload and load it at
 * will. The function is the first of the module, as in ghost.c.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uio.h>

ssize_t btrfs_buffered_write(struct kiocb *iocb, struct iov_iter *from);

noinline ssize_t btrfs_buffered_write(struct kiocb *iocb, struct iov_iter *from)
{
	size_t n = iov_iter_count(from);

	iov_iter_advance(from, n);
	iocb->ki_pos += n;
	return n;
}

static ssize_t write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	return btrfs_buffered_write(iocb, from);
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.write_iter = write_iter,
	.llseek = noop_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "haunted",
	.fops = &fops,
};

module_misc_device(device);
MODULE_DESCRIPTION("A function that category cache looks at");
MODULE_LICENSE("GPL");
