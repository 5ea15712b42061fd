// SPDX-License-Identifier: GPL-2.0
/*
 * Category sockopt: setsockopt(2) and getsockopt(2) of sockets, whatever the level.
 *
 *   __sys_setsockopt		SET: the system call, of 64-bit and 32-bit programs, and
 *   __sys_getsockopt		GET: socketcall(2) of 32-bit programs
 *   io_uring_cmd_sock		SET, GET: IORING_OP_URING_CMD of io_uring
 *
 * Each call is one record, also one that fails. Not seen: calls that the kernel makes itself on
 * sockets, and calls that end before these functions (seccomp, a bad array of socketcall(2)).
 *
 * The kernel reads the value of SET, and the length of GET, after the probe has. A thread that
 * changes them meanwhile gets another value than is recorded. Programs of BPF for a cgroup may
 * change what the kernel gets; recorded is what the program gave, and what it got. A request of
 * io_uring is read from its sqe, which may be in memory that the program can write to.
 *
 * A call may be unbounded: it waits for the lock of the socket, whose owner may copy from memory
 * that never arrives (userfaultfd, FUSE), and it copies from such memory itself. So all calls are
 * followed by their return addresses, and nothing of ours is on the stack meanwhile.
 *
 * Contexts: entry and return of the functions, in the task that calls or in a worker or poller of
 * io_uring, which have the program's memory. Handlers never sleep: what is not in memory is not
 * read. If that is the value of SET, it is read after the call, when the kernel has brought it in.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_SOCKOPT /* left_out.h */
#include <linux/compat.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/net.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include "compat/io_uring.h"
#include "core/clock.h"
#include "core/option.h"
#include "core/task.h"
#include "hook/enter.h"
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "hook/symbol.h"
#include "record/category.h"
#include "record/event.h"
#include "record/wants.h"
#include "probe/categories.h"
#include "probe/socket.h"
#include "probe/sockopt_value.h"
#include "uapi/iotracer.h"

#define TEXT_SIZE	sizeof_field(struct iot_sockopt, value)

static_assert(sizeof_field(struct iot_sockopt, value) > IOT_SOCKOPT_BYTES + 4);

/**
 * struct frame - a call in progress
 * @start:	CLOCK_MONOTONIC ns
 * @value:	address of the value in the program
 * @length:	GET by a system call: address of the length in the program
 * @cookie:	of the socket, 0 if there is none, like @inode, @netns, @family, @type, @protocol
 * @flags:	IOT_SOCKOPT_*
 * @asked:	length that the caller gave
 * @op:		IOT_SOCKOPT_SET or IOT_SOCKOPT_GET
 * @kind:	of the option
 * @nr:		bytes of the value that were read
 * @is_whole:	SET: no more is to be read
 * @may_retry:	-EAGAIN is no result: the call is made again
 * @text:	the value as it is shown
 */
struct frame {
	u64 start;
	u64 value;
	u64 length;
	u64 cookie;
	u64 inode;
	u32 netns;
	u32 flags;
	s32 fd;
	s32 level;
	s32 option;
	s32 asked;
	u16 op;
	u16 family;
	u16 type;
	u16 protocol;
	u8 kind;
	u8 nr;
	bool is_whole;
	bool may_retry;
	char text[TEXT_SIZE];
};

enum tag { TAG_SET, TAG_GET, TAG_URING };

static struct iot_category * const category = &iot_category_sockopt;

/* Note the socket of a file, to which a reference is held, so that the socket stays. */
static void note_socket(struct frame *f, struct file *file)
{
	struct socket *sock = sock_from_file(file);
	struct sock *sk = sock ? READ_ONCE(sock->sk) : NULL;

	if (!sk)
		return;
	f->inode = file_inode(file)->i_ino;
	f->netns = iot_socket_netns(sk);
	f->family = READ_ONCE(sk->sk_family);
	f->type = READ_ONCE(sk->sk_type);
	f->protocol = READ_ONCE(sk->sk_protocol);
	f->cookie = iot_socket_cookie(sk);
}

/* The kernel looks the descriptor up, too, and most likely finds the same file. */
static void note_descriptor(struct frame *f)
{
	struct file *file = f->fd < 0 ? NULL : fget(f->fd);

	if (!file)
		return;
	note_socket(f, file);
	fput(file);
}

/* Read bytes of the program, up to a page that is not in memory. Return: how many. */
static unsigned int read_user(char *to, u64 from, unsigned int nr)
{
	unsigned int done = 0, n;

	for (; done < nr; done += n) {
		n = min_t(unsigned int, nr - done, PAGE_SIZE - ((from + done) & ~PAGE_MASK));
		if (copy_from_user_nofault(to + done, (const void __user *)(from + done), n))
			break;
	}
	return done;
}

static bool read_int(s32 *to, u64 from)
{
	return !copy_from_user_nofault(to, (const void __user *)from, sizeof(*to));
}

/*
 * Read a value of @length bytes, and store how it is shown. If it has been read before, only if
 * more of it is in memory now. Return: whether anything was stored.
 */
static bool note_value(struct frame *f, s32 length)
{
	struct iot_sockopt_value v IOT_UNINITIALIZED;
	unsigned int most = min_t(unsigned int, length, sizeof(v.bytes));

	if (f->kind == IOT_OPTION_hidden) {
		f->flags |= IOT_SOCKOPT_HIDDEN;
		return false;
	}
	v.nr = read_user(v.bytes, f->value, most);
	f->is_whole = v.nr == most;
	if (v.nr <= f->nr)
		return false;
	f->nr = v.nr;
	v.length = length;
	v.of_ip = f->level == SOL_IP;
	v.is_32 = f->flags & IOT_SOCKOPT_COMPAT;
	memset(f->text, 0, sizeof(f->text));
	iot_sockopt_show(f->text, sizeof(f->text), f->kind, &v);
	return true;
}

static void note_given(struct frame *f)
{
	if (f->asked > 0)
		note_value(f, f->asked);
	else
		f->is_whole = true;
}

/* What the kernel has read of the value was brought in, if it had to be. */
static void note_given_late(struct frame *f)
{
	if (!f->is_whole && f->asked > 0 && note_value(f, f->asked))
		f->flags |= IOT_SOCKOPT_LATE;
}

/* Note what a GET that has succeeded returned. Return: its length */
static s32 note_got(struct frame *f, s32 result)
{
	s32 length = result;

	if (!(f->flags & IOT_SOCKOPT_URING) && !read_int(&length, f->length)) {
		f->flags |= IOT_SOCKOPT_NO_VALUE;
		return 0;
	}
	if (length > 0)
		note_value(f, length);
	return length;
}

/* Does a time of this program have 32 bits? */
static bool is_32(void)
{
	return in_compat_syscall() && !COMPAT_USE_64BIT_TIME;
}

/* __sys_setsockopt(fd, level, option, value, length), __sys_getsockopt(..., address of length) */
static void begin_call(struct frame *f, const unsigned long *args, bool get)
{
	f->op = get ? IOT_SOCKOPT_GET : IOT_SOCKOPT_SET;
	f->fd = args[0];
	f->level = args[1];
	f->option = args[2];
	f->value = args[3];
	if (is_32())
		f->flags |= IOT_SOCKOPT_COMPAT;
	if (!get) {
		f->asked = args[4];
	} else {
		f->length = args[4];
		if (!read_int(&f->asked, f->length))
			f->flags |= IOT_SOCKOPT_NO_LENGTH;
	}
	note_descriptor(f);
}

static void begin_uring(struct frame *f, const struct iot_uring_sockopt *o)
{
	f->op = o->get ? IOT_SOCKOPT_GET : IOT_SOCKOPT_SET;
	f->flags = IOT_SOCKOPT_URING;
	if (o->compat)
		f->flags |= IOT_SOCKOPT_COMPAT;
	if (o->fixed)
		f->flags |= IOT_SOCKOPT_FIXED_FILE;
	f->fd = o->fd;
	f->level = o->level;
	f->option = o->option;
	f->value = o->value;
	f->asked = o->length;
	f->may_retry = o->may_retry;
	note_socket(f, o->file);
}

/* Do conditions on the socket reject the call? Context: any. */
static bool is_socket_rejected(const struct frame *f)
{
	bool rejected;

	if (likely(!(READ_ONCE(category->state) & IOT_FILTER_SOCKET)))
		return false;
	preempt_disable_notrace();
	rejected = iot_category_rejects_socket(category, f->family, f->protocol, f->netns);
	preempt_enable_notrace();
	return rejected;
}

static bool wants_uring(const unsigned long *args, struct iot_uring_sockopt *o)
{
	return iot_category_active(category) && iot_uring_sockopt(args, o) &&
	       iot_category_wants(category, o->get ? IOT_SOCKOPT_GET : IOT_SOCKOPT_SET);
}

static bool wants_call(const struct iot_site *site)
{
	return iot_category_wants(category, site->tag == TAG_GET ? IOT_SOCKOPT_GET :
							 IOT_SOCKOPT_SET);
}

static enum iot_hook_verdict wants(const struct iot_site *site, const unsigned long *args,
				   unsigned long caller)
{
	struct iot_uring_sockopt o;
	bool wanted = site->tag == TAG_URING ? wants_uring(args, &o) : wants_call(site);

	return wanted ? IOT_HOOK_FOLLOW_RETURN : IOT_HOOK_IGNORE;
}

static int entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct iot_site *site = iot_site_of(ri);
	struct frame *f = (struct frame *)ri->data;
	unsigned long args[IOT_CALL_ARGS];
	struct iot_uring_sockopt o;

	iot_kretprobe_args(regs, args, ARRAY_SIZE(args));
	if (site->tag == TAG_URING ? !wants_uring(args, &o) : !wants_call(site))
		return 1;
	memset(f, 0, sizeof(*f));
	f->start = ktime_get_mono_fast_ns();
	if (site->tag == TAG_URING)
		begin_uring(f, &o);
	else
		begin_call(f, args, site->tag == TAG_GET);
	if (is_socket_rejected(f))
		return 1;
	f->kind = iot_option_kind(f->level, f->option);
	if (f->op == IOT_SOCKOPT_SET)
		note_given(f);
	return 0;
}

static void record(const struct frame *f, s32 result, s32 length, u64 latency)
{
	struct iot_event_at at;
	struct iot_sockopt *e;

	preempt_disable_notrace();
	if (unlikely(iot_category_asks_at_end(category,
					      IOT_CATEGORY_BY_FILE | IOT_FILTER_SOCKET)) &&
	    (iot_category_rejects_inode(category, f->inode) ||
	     iot_category_rejects_socket(category, f->family, f->protocol, f->netns) ||
	     iot_category_rejects_at_end(category, f->op, latency, 0, false)))
		goto out;
	e = iot_event_reserve(category, &at);
	if (!e)
		goto out;
	iot_event_fill(e, &at, category, f->op, f->start, latency);
	e->cookie = f->cookie;
	e->inode = f->inode;
	e->netns = f->netns;
	e->flags = f->flags;
	e->result = result;
	e->fd = f->fd;
	e->level = f->level;
	e->option = f->option;
	e->asked = f->asked;
	e->length = length;
	e->family = f->family;
	e->type = f->type;
	e->protocol = f->protocol;
	e->reserved = 0;
	memcpy(e->value, f->text, sizeof(e->value));
	iot_task_fill(e);
	iot_event_commit(category, &at);
out:
	preempt_enable_notrace();
}

/* Is there a value that should have been read? */
static bool has_value(const struct frame *f, s32 length)
{
	return !(f->flags & IOT_SOCKOPT_HIDDEN) &&
	       (f->op == IOT_SOCKOPT_SET ? f->asked : length) > 0;
}

static int probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct frame *f = (struct frame *)ri->data;
	u64 latency = iot_clock_since(f->start, ktime_get_mono_fast_ns());
	s32 result = iot_event_result((s32)regs_return_value(regs));
	s32 length = 0;

	if (f->may_retry && result == -EAGAIN)
		return 0;
	if (f->op == IOT_SOCKOPT_SET)
		note_given_late(f);
	else if (result >= 0)
		length = note_got(f, result);
	if (!f->nr && has_value(f, length))
		f->flags |= IOT_SOCKOPT_NO_VALUE;
	record(f, result, length, latency);
	return 0;
}

static struct iot_site sites[] = {
	{ .symbol = "__sys_setsockopt", .what = "SET", .tag = TAG_SET, .unbounded = true,
	  .proto = "int (int, int, int, char *, int)" },
	{ .symbol = "__sys_getsockopt", .what = "GET", .tag = TAG_GET, .unbounded = true,
	  .proto = "int (int, int, int, char *, int *)" },
#ifdef IOT_HAVE_IO_URING_SOCKOPT
	{ .symbol = "io_uring_cmd_sock", .what = "SET,GET", .tag = TAG_URING, .unbounded = true,
	  .proto = "int (struct io_uring_cmd *, int)" },
#endif
};

static struct iot_hook_set set = {
	.sites = sites,
	.nr = ARRAY_SIZE(sites),
	.wants = wants,
	.entry = entry,
	.exit = probe_exit,
	.data_size = sizeof(struct frame),
};

static int start(void)
{
	return iot_hook_set_start(&set, NULL, 0);
}

static void stop(void)
{
	iot_hook_set_stop(&set, NULL, 0);
}

static unsigned long missed(void)
{
	return iot_hook_set_missed(&set);
}

const struct iot_category_ops iot_sockopt_ops = {
	.start = start,
	.stop = stop,
	.missed = missed,
};

#endif /* IOT_WITHOUT_SOCKOPT */
