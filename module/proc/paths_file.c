// SPDX-License-Identifier: GPL-2.0
/* /proc/iotracer/paths: the texts that records name by id, as a binary stream. */
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "core/schema.h"
#include "file/paths.h"
#include "proc/paths_file.h"
#include "proc/poller.h"
#include "proc/procfile.h"

/**
 * struct reader - an open /proc/iotracer/paths
 * @at:		the next entry to show
 * @lock:	one read at a time: protects what follows, and @at.next
 * @header_read: the header has been read
 * @record:	one entry, as it is shown
 */
struct reader {
	struct iot_paths_reader at;
	struct mutex lock;	/* protects what follows */
	bool header_read;
	char record[sizeof(struct iot_path_record) + round_up(PATH_MAX, 8)];
};

static int paths_open(struct inode *inode, struct file *file)
{
	struct reader *rd = kvzalloc(sizeof(*rd), GFP_KERNEL);

	if (!rd)
		return -ENOMEM;
	mutex_init(&rd->lock);
	rd->at.next = 1;
	file->private_data = rd;
	iot_paths_reader_add(&rd->at);
	iot_poller_get();
	return nonseekable_open(inode, file);
}

static int paths_release(struct inode *inode, struct file *file)
{
	struct reader *rd = file->private_data;

	iot_poller_put();
	iot_paths_reader_remove(&rd->at);
	mutex_destroy(&rd->lock);
	kvfree(rd);
	return 0;
}

/* Put the next entry into @rd->record. Return: its size, 0 for none. */
static size_t take_record(struct reader *rd)
{
	struct iot_path_record *r = (struct iot_path_record *)rd->record;
	u64 last, oldest = iot_path_table_oldest(&last);
	const struct iot_path *e;
	size_t size = 0;

	rd->at.next = max(rd->at.next, oldest);
	rcu_read_lock();
	while (!size && rd->at.next <= last) {
		if (!(rd->at.next % 1024)) { /* many entries in a row may have been freed */
			rcu_read_unlock();
			cond_resched();
			rcu_read_lock();
		}
		e = iot_path_table_at(rd->at.next++);
		if (!e)
			continue;
		r->id = e->file.id;
		r->inode = e->file.ino;
		r->device = e->file.dev;
		r->length = e->len;
		size = sizeof(*r) + round_up(e->len, 8);
		memset(rd->record + size - 8, 0, 8);
		memcpy(r + 1, e->text, e->len);
		if (!e->len)
			size = sizeof(*r);
	}
	rcu_read_unlock();
	return size;
}

static ssize_t read_header(struct reader *rd, char __user *buf)
{
	struct iot_stream_header header = {
		.magic = IOT_STREAM_MAGIC,
		.version = IOT_STREAM_VERSION,
		.header_size = sizeof(header),
		.schema = iot_schema_hash(),
		.layout = IOT_LAYOUT_PATHS,
	};

	if (copy_to_user(buf, &header, sizeof(header)))
		return -EFAULT;
	rd->header_read = true;
	return sizeof(header);
}

static ssize_t read_records(struct reader *rd, char __user *buf, size_t count)
{
	size_t size, done = 0;

	while (done + sizeof(rd->record) <= count) {
		size = take_record(rd);
		if (!size)
			break;
		if (copy_to_user(buf + done, rd->record, size)) {
			rd->at.next--;
			return done ?: -EFAULT;
		}
		done += size;
		cond_resched();
	}
	return done;
}

/* Read whole records. The buffer must have room for the header and the longest record. */
static ssize_t paths_read(struct file *file, char __user *buf, size_t count,
			  struct iot_visit *visit)
{
	struct reader *rd = file->private_data;
	ssize_t ret = 0, n;

	if (count < sizeof(rd->record) + sizeof(struct iot_stream_header))
		return -EINVAL;
	if (mutex_lock_interruptible(&rd->lock))
		return -EINTR;
	if (!rd->header_read)
		ret = read_header(rd, buf);
	if (ret >= 0) {
		n = read_records(rd, buf + ret, count - ret);
		ret = n < 0 && !ret ? n : ret + max_t(ssize_t, n, 0);
	}
	mutex_unlock(&rd->lock);
	return ret;
}

static __poll_t paths_poll(struct file *file)
{
	struct reader *rd = file->private_data;
	u64 last;

	iot_path_table_oldest(&last);
	if (!READ_ONCE(rd->header_read) || READ_ONCE(rd->at.next) <= last)
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

const struct iot_procfile_ops iot_paths_ops = {
	.open = paths_open,
	.release = paths_release,
	.read = paths_read,
	.poll = paths_poll,
};
