// SPDX-License-Identifier: GPL-2.0
/*
 * Category conn: EXISTING, the sockets that processes have open when tracing begins.
 *
 * A worker goes through all threads by their numbers, and through the descriptors of each table
 * of files once, while the recorder may read already. Stop cancels it. A socket that several
 * processes have open is one event, of the first of them. Those that no process has open are no
 * events: the kernel's own, those on their way in a message (SCM_RIGHTS), and those that wait in
 * io_uring's table of files.
 *
 * Nothing waits: a table of files is looked at under its lock, for the descriptors of one word of
 * its bitmap, inside the lock of the task, as procfs does. So the files stay without a reference to
 * them, and no close(2) is delayed by one. A socket that is closed before the worker arrives is no
 * event; its CLOSE is. One that is accepted just when the worker arrives may be both listed and
 * accepted, if its connection is older than the trace, or of UNIX.
 *
 * What was seen is kept in a set while the worker runs, in memory of ring_memory_limit. If there is
 * no room for it to grow, a socket may be listed twice, if its owner was displaced, too.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_CONN /* left_out.h */
#include <linux/bitops.h>
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include "core/budget.h"
#include "core/table.h"
#include "core/thread.h"
#include "probe/conn_list.h"
#include "probe/conn_record.h"
#include "probe/socket_owner.h"

#define FIRST_BITS	10

/** struct seen - keys, none of which is 0, in 1 << @bits slots, of which half may be used */
struct seen {
	u64 *slots;
	unsigned int bits;
	size_t nr;
};

static void list_all(struct work_struct *work);

static DECLARE_WORK(work, list_all);
static struct workqueue_struct *worker;	/* from the first start to unload */
static bool cancelled;

static size_t bytes_of(unsigned int bits)
{
	return sizeof(u64) << bits;
}

static void seen_free(struct seen *s)
{
	if (!s->slots)
		return;
	kvfree(s->slots);
	iot_budget_give(bytes_of(s->bits));
}

/* Find the slot of a key, or the free one for it. */
static u64 *slot_of(const struct seen *s, u64 key)
{
	size_t i = iot_table_mix(key) >> (64 - s->bits);

	while (s->slots[i] && s->slots[i] != key)
		i = (i + 1) & ((1UL << s->bits) - 1);
	return &s->slots[i];
}

static bool grow(struct seen *s)
{
	struct seen new = { .bits = s->slots ? s->bits + 1 : FIRST_BITS, .nr = s->nr };
	size_t i;

	if (!iot_budget_try(bytes_of(new.bits)))
		return false;
	new.slots = kvcalloc(1UL << new.bits, sizeof(u64), GFP_KERNEL | __GFP_NOWARN);
	if (!new.slots) {
		iot_budget_give(bytes_of(new.bits));
		return false;
	}
	for (i = 0; s->slots && i < 1UL << s->bits; i++)
		if (s->slots[i])
			*slot_of(&new, s->slots[i]) = s->slots[i];
	seen_free(s);
	*s = new;
	return true;
}

/* Make room for the descriptors of one word, and a table. Context: may sleep */
static bool seen_has_room(struct seen *s)
{
	if (s->slots && (s->nr + BITS_PER_LONG + 1) * 2 <= 1UL << s->bits)
		return true;
	return grow(s);
}

/* Return: false if it has been added before. */
static bool seen_add(struct seen *s, u64 key)
{
	u64 *slot = slot_of(s, key);

	if (*slot == key)
		return false;
	*slot = key;
	s->nr++;
	return true;
}

/**
 * struct walk - where the worker is
 * @keys:	cookies of sockets, shifted left by one bit with the lowest set, and addresses of
 *		tables
 * @full:	@keys cannot grow
 */
struct walk {
	struct seen keys;
	bool full;
	struct task_struct *task;
	unsigned int fd;
};

static bool is_listed(struct walk *w, u64 key)
{
	return !w->full && !seen_add(&w->keys, key);
}

/* Context: the locks of the task and of its files are held. */
static void list_socket(struct walk *w, struct file *file, unsigned int fd)
{
	struct socket *sock = sock_from_file(file);
	struct sock *sk = sock ? READ_ONCE(sock->sk) : NULL;
	struct iot_socket_owner owner;
	struct iot_conn r;

	if (!sk)
		return;
	iot_conn_begin(&r, IOT_CONN_EXISTING, ktime_get_mono_fast_ns());
	iot_conn_note(&r, sk);
	r.inode = file_inode(file)->i_ino;
	r.fd = fd;
	if (!is_listed(w, r.cookie << 1 | 1) &&
	    iot_socket_owner_list(r.cookie, r.inode, w->task, &owner))
		iot_conn_record_owner(&r, &owner, 0);
}

/* List the descriptors of one word. Return: false if there are no more. */
static bool list_word(struct walk *w, struct files_struct *files)
{
	const struct fdtable *fdt = files_fdtable(files);
	unsigned long bits;
	unsigned int bit;

	if (w->fd >= fdt->max_fds)
		return false;
	bits = fdt->open_fds[w->fd / BITS_PER_LONG];
	for_each_set_bit(bit, &bits, BITS_PER_LONG) {
		struct file *file = files_lookup_fd_locked(files, w->fd + bit);

		if (file)
			list_socket(w, file, w->fd + bit);
	}
	w->fd += BITS_PER_LONG;
	return true;
}

/* Do list_word() for the table of the task, unless another one has the same table. */
static bool list_some(struct walk *w)
{
	struct files_struct *files;
	bool more = false;

	task_lock(w->task);
	files = w->task->files;
	if (files && (w->fd || !is_listed(w, (unsigned long)files))) {
		spin_lock(&files->file_lock);
		more = list_word(w, files);
		spin_unlock(&files->file_lock);
	}
	task_unlock(w->task);
	return more;
}

static void list_all(struct work_struct *unused)
{
	struct walk w = { };
	bool more = true;
	int nr;

	for (nr = 1; more && !READ_ONCE(cancelled); nr++) {
		w.task = iot_thread_from(&nr, &more);
		if (!w.task)
			continue;
		w.fd = 0;
		do {
			w.full = w.full || !seen_has_room(&w.keys);
			cond_resched();
		} while (list_some(&w) && !READ_ONCE(cancelled));
		put_task_struct(w.task);
	}
	seen_free(&w.keys);
}

/**
 * iot_conn_list_begin() - list the sockets, when all hooks are attached
 *
 * Context: task, may sleep. Return: 0 or -ENOMEM.
 */
int iot_conn_list_begin(void)
{
	if (!worker)
		worker = alloc_workqueue("iotracer_sockets", WQ_UNBOUND, 1);
	if (!worker)
		return -ENOMEM;
	WRITE_ONCE(cancelled, false);
	queue_work(worker, &work);
	return 0;
}

/**
 * iot_conn_list_end() - cancel what is left of it
 *
 * Context: task, sleeps until the worker has ended.
 */
void iot_conn_list_end(void)
{
	WRITE_ONCE(cancelled, true);
	cancel_work_sync(&work);
}

/** iot_conn_list_exit() - clean up at unload */
void iot_conn_list_exit(void)
{
	if (worker)
		destroy_workqueue(worker);
	worker = NULL;
}

#endif /* IOT_WITHOUT_CONN */
