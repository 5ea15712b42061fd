// SPDX-License-Identifier: GPL-2.0
/* The file stream of a log: its records in binary, in blocks (uapi/iotracer.h). */
#include <linux/cpumask.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "core/param.h"
#include "core/schema.h"
#include "proc/access.h"
#include "proc/log_files.h"
#include "proc/mask.h"
#include "proc/poller.h"
#include "proc/procfile.h"

/**
 * struct stream_reader - an open stream
 * @masked:	the opener may not see addresses
 * @copy:	memory for one record, if it has to be changed before it is shown, else NULL
 * @lock:	one read at a time: protects what follows
 * @header_read: the header has been read
 * @turn:	the ring that is read next
 * @left_out:	@opener was made the reader, whose events are left out
 * @opener:	the process that opened it; a reference is held
 * @nr:		number of rings
 * @next:	by ring, seq of the next record
 */
struct stream_reader {
	struct iot_log *log;
	bool masked;
	u64 *copy;
	struct mutex lock;	/* protects what follows */
	bool header_read;
	unsigned int turn;
	bool left_out;
	struct pid *opener;
	unsigned int nr;
	u64 next[];
};

/* Start at the oldest record of each ring: earlier ones are no gap for this reader. */
static void begin_at_oldest(struct stream_reader *rd)
{
	struct iot_rings *rings = iot_log_rings(rd->log);
	unsigned int i;
	u64 end;

	if (!rings)
		return;
	for (i = 0; i < rd->nr; i++)
		rd->next[i] = iot_shard_window(&rings->shard[i], &end) + rings->shard[i].shift;
	iot_rings_put(rings);
}

static void reader_free(struct stream_reader *rd)
{
	mutex_destroy(&rd->lock);
	kvfree(rd->copy);
	kvfree(rd);
}

static struct stream_reader *reader_alloc(struct iot_log *log, bool masked)
{
	unsigned int nr = iot_rings_nr(log->of);
	struct stream_reader *rd = kvzalloc(struct_size(rd, next, nr), GFP_KERNEL_ACCOUNT);

	if (!rd)
		return NULL;
	mutex_init(&rd->lock);
	rd->log = log;
	rd->nr = nr;
	rd->masked = masked;
	if (!masked && !log->shown->complete)
		return rd;
	rd->copy = kvmalloc(log->event->size, GFP_KERNEL_ACCOUNT);
	if (rd->copy)
		return rd;
	reader_free(rd);
	return NULL;
}

static int blocks_open(struct inode *inode, struct file *file)
{
	struct stream_reader *rd = reader_alloc(iot_procfile_owner(inode),
						!iot_access_addresses(file));
	struct iot_category *c;

	if (!rd)
		return -ENOMEM;
	file->private_data = rd;
	begin_at_oldest(rd);
	rd->opener = get_pid(task_tgid(current));
	c = iot_log_category(rd->log);
	rd->left_out = c && !iot_param_trace_reader();
	if (rd->left_out)
		iot_category_take_reader(c, rd->opener);
	iot_poller_get();
	return nonseekable_open(inode, file);
}

static int blocks_release(struct inode *inode, struct file *file)
{
	struct stream_reader *rd = file->private_data;
	struct iot_category *c = iot_log_category(rd->log);

	iot_poller_put();
	if (rd->left_out)
		iot_category_drop_reader(c, rd->opener);
	if (c)
		iot_category_abandon(c, rd->opener);
	put_pid(rd->opener);
	reader_free(rd);
	return 0;
}

static ssize_t put_header(struct stream_reader *rd, char __user *buf)
{
	struct iot_stream_header header = {
		.magic = IOT_STREAM_MAGIC,
		.version = IOT_STREAM_VERSION,
		.header_size = sizeof(header),
		.schema = iot_schema_hash(),
		.event = rd->log->event->id,
		.record_size = rd->log->event->size,
		.t0 = READ_ONCE(rd->log->t0),
		.layout = IOT_LAYOUT_BLOCKS,
		.cpus = rd->nr,
	};

	if (copy_to_user(buf, &header, sizeof(header)))
		return -EFAULT;
	rd->header_read = true;
	return sizeof(header);
}

/* Records that are copied in one section with access to user memory. */
#define BATCH	32

/*
 * Copy up to BATCH records straight from their slots, up to the first that is not there. A
 * record that is overwritten while it is copied is not counted, and the next copy overwrites it.
 * No function is called here, since the kernel has access to user memory. Return: number of
 * complete records, or -EFAULT.
 */
static s64 copy_batch(const struct iot_shard *shard, u64 index, u64 nr,
		      u64 __user *to, size_t words)
{
	u64 done;
	size_t i;

	if (!user_access_begin(to, nr * words * sizeof(u64)))
		return -EFAULT;
	for (done = 0; done < nr; done++, index++, to += words) {
		const u64 *slot = iot_ring_slot(shard->ring, index);

		/* read the state before the copy */
		if (smp_load_acquire(slot) != iot_ring_committed(index))
			break;
		unsafe_put_user(index + shard->shift, to, fault);
		for (i = 1; i + 4 <= words; i += 4) {
			unsafe_put_user(READ_ONCE(slot[i]), to + i, fault);
			unsafe_put_user(READ_ONCE(slot[i + 1]), to + i + 1, fault);
			unsafe_put_user(READ_ONCE(slot[i + 2]), to + i + 2, fault);
			unsafe_put_user(READ_ONCE(slot[i + 3]), to + i + 3, fault);
		}
		for (; i < words; i++)
			unsafe_put_user(READ_ONCE(slot[i]), to + i, fault);
		smp_rmb(); /* finish the copy before the second read of the state */
		if (READ_ONCE(*slot) != iot_ring_committed(index))
			break;
	}
	user_access_end();
	return done;

fault:
	user_access_end();
	return -EFAULT;
}

/* As above, after changing what a reader is shown. */
static s64 copy_changed(const struct stream_reader *rd, const struct iot_shard *shard,
			u64 index, u64 nr, char __user *to)
{
	const struct iot_log *log = rd->log;
	u64 done;

	for (done = 0; done < nr; done++, index++, to += log->event->size) {
		if (iot_ring_read(shard->ring, index, rd->copy) != IOT_RING_OK)
			break;
		rd->copy[0] = index + shard->shift;
		if (log->shown->complete)
			log->shown->complete(log, rd->copy);
		if (rd->masked)
			iot_mask_record(log->event, rd->copy);
		if (copy_to_user(to, rd->copy, log->event->size))
			return -EFAULT;
	}
	return done;
}

/* As above, all records up to @end or to the first that is not there. */
static s64 copy_records(const struct stream_reader *rd, const struct iot_shard *shard,
			u64 index, u64 end, char __user *buf)
{
	size_t size = rd->log->event->size;
	u64 from = index;
	s64 n;

	while (index < end) {
		u64 nr = min_t(u64, end - index, BATCH);

		if (rd->copy)
			n = copy_changed(rd, shard, index, nr, buf);
		else
			n = copy_batch(shard, index, nr, (u64 __user *)buf,
				       size / sizeof(u64));
		if (n < 0)
			return n;
		index += n;
		buf += n * size;
		if (n < nr)
			break;
		cond_resched();
	}
	return index - from;
}

/* Skip records that are overwritten or lost. Return: their number. */
static u64 skip_gone(const struct iot_ring *ring, u64 *index, u64 end)
{
	u64 first = *index;

	while (*index < end && !iot_ring_holds(ring, *index))
		++*index;
	return *index - first;
}

/*
 * Copy one block of a ring's records. A record that a writer is still filling ends the block.
 * If it would be the first of the block, wait for an RCU grace period: a record that is still
 * missing then is lost.
 * Return: bytes, 0 if nothing is new, or -EFAULT.
 */
static ssize_t put_block(struct stream_reader *rd, const struct iot_shard *shard,
			 unsigned int cpu, char __user *buf, size_t room)
{
	size_t size = rd->log->event->size;
	struct iot_stream_block block = { .magic = IOT_STREAM_BLOCK_MAGIC, .cpu = cpu,
				   .event = rd->log->event->id };
	u64 end, index, from = iot_shard_window(shard, &end);
	s64 n;

	index = max(rd->next[cpu], from + shard->shift) - shard->shift;
	if (index < end && !iot_ring_holds(shard->ring, index)) {
		u64 reserved = end;

		synchronize_rcu(); /* the writers of all records below @reserved have finished */
		from = iot_shard_window(shard, &end);
		index = max(index, from);
		skip_gone(shard->ring, &index, reserved);
	}
	block.gap = index + shard->shift - rd->next[cpu];
	block.first = index + shard->shift;
	end = min(end, index + (room - sizeof(block)) / size);
	n = copy_records(rd, shard, index, end, buf + sizeof(block));
	if (n < 0)
		return n;
	if (!n && !block.gap)
		return 0;
	block.count = n;
	if (copy_to_user(buf, &block, sizeof(block)))
		return -EFAULT;
	rd->next[cpu] = block.first + n;
	/* in mode discard, records that were read make room for new ones */
	if (READ_ONCE(rd->log->discard) && end)
		iot_ring_hide(shard->ring, index + n);
	return sizeof(block) + n * size;
}

static ssize_t put_blocks(struct stream_reader *rd, char __user *buf, size_t count)
{
	size_t done = 0, least = sizeof(struct iot_stream_block) + rd->log->event->size;
	struct iot_rings *rings = iot_log_rings(rd->log);
	unsigned int turn;
	ssize_t n = 0;

	if (!rings)
		return 0;
	for (turn = 0; turn < rd->nr && count - done >= least; turn++) {
		unsigned int i = rd->turn;

		rd->turn = (i + 1) % rd->nr;
		n = put_block(rd, &rings->shard[i], i, buf + done, count - done);
		if (n < 0)
			break;
		done += n;
		cond_resched();
	}
	iot_rings_put(rings);
	return done ?: n;
}

/* Read whole blocks. The buffer must have room for the header and a block of one record. */
static ssize_t blocks_read(struct file *file, char __user *buf, size_t count,
			   struct iot_visit *visit)
{
	struct stream_reader *rd = file->private_data;
	ssize_t ret = 0, n;

	if (count < sizeof(struct iot_stream_header) + sizeof(struct iot_stream_block) +
	    rd->log->event->size)
		return -EINVAL;
	if (mutex_lock_interruptible(&rd->lock))
		return -EINTR;
	if (!rd->header_read)
		ret = put_header(rd, buf);
	if (ret >= 0) {
		n = put_blocks(rd, buf + ret, count - ret);
		ret = n < 0 && !ret ? n : ret + max_t(ssize_t, n, 0);
	}
	mutex_unlock(&rd->lock);
	return ret;
}

static bool has_news(const struct stream_reader *rd, const struct iot_rings *rings)
{
	unsigned int i;
	u64 end;

	for (i = 0; i < rd->nr; i++) {
		iot_shard_window(&rings->shard[i], &end);
		if (READ_ONCE(rd->next[i]) < end + rings->shard[i].shift)
			return true;
	}
	return false;
}

static __poll_t blocks_poll(struct file *file)
{
	struct stream_reader *rd = file->private_data;
	struct iot_rings *rings;
	bool news;

	rings = iot_log_rings(rd->log);
	news = rings && has_news(rd, rings);
	iot_rings_put(rings);
	return news || !READ_ONCE(rd->header_read) ? EPOLLIN | EPOLLRDNORM : 0;
}

const struct iot_procfile_ops iot_log_stream_ops = {
	.open = blocks_open,
	.release = blocks_release,
	.read = blocks_read,
	.poll = blocks_poll,
};
