// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/iotracer/<category>/waiting: the threads that wait now in a call of the category, a line
 * for each, in the order of their ids. They are looked for while the file is read, whether the
 * category is started or not. A position in the file is the id of a thread.
 *
 * With a million threads a read looks at each. It ends early for a signal, and gives way to other
 * tasks after each thread.
 */
#include <linux/fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/threads.h>
#include "core/schema.h"
#include "probe/waiting.h"
#include "record/category.h"
#include "proc/category_files.h"
#include "proc/log_files.h"
#include "proc/procfile.h"
#include "proc/text.h"

/**
 * struct reader - an open file; seq_file's lock serialises its use
 * @record:	of the thread that is shown next
 */
struct reader {
	struct iot_category *c;
	u64 record[];
};

static void *find(struct reader *rd, loff_t *pos)
{
	int nr, ret;

	if (*pos > PID_MAX_LIMIT)
		return NULL;
	nr = *pos;
	ret = iot_waiting_next(rd->c, &nr, rd->record);
	*pos = nr;
	if (ret < 0)
		return ERR_PTR(ret);
	return ret ? rd->record : NULL;
}

static void *waiting_start(struct seq_file *m, loff_t *pos)
{
	return find(m->private, pos);
}

static void *waiting_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return find(m->private, pos);
}

static void waiting_stop(struct seq_file *m, void *v)
{
}

static int waiting_show(struct seq_file *m, void *v)
{
	const struct reader *rd = m->private;

	iot_text_call(m, rd->c->of.event_id, v);
	return 0;
}

static const struct seq_operations waiting_seq_ops = {
	.start = waiting_start,
	.next = waiting_next,
	.stop = waiting_stop,
	.show = waiting_show,
};

static int waiting_open(struct inode *inode, struct file *file)
{
	struct iot_category *c = iot_log_category(iot_procfile_owner(inode));
	struct reader *rd = kzalloc(sizeof(*rd) + c->log.event->size, GFP_KERNEL_ACCOUNT);
	int err;

	if (!rd)
		return -ENOMEM;
	rd->c = c;
	iot_waiting_prepare();
	err = seq_open(file, &waiting_seq_ops);
	if (err)
		kfree(rd);
	else
		((struct seq_file *)file->private_data)->private = rd;
	return err;
}

static int waiting_release(struct inode *inode, struct file *file)
{
	kfree(((struct seq_file *)file->private_data)->private);
	return seq_release(inode, file);
}

const struct iot_procfile_ops iot_category_waiting_ops = {
	.open = waiting_open,
	.release = waiting_release,
	.read_iter = seq_read_iter,
};
