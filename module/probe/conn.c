// SPDX-License-Identifier: GPL-2.0
/*
 * Category conn: the life of sockets, from socket(2) to the last close.
 *
 *   __sys_socket, __sys_socketpair	SOCKET_CREATE; of socketpair(2) one event for each socket
 *   sock_alloc_file			only the owner of a new socket
 *   __sys_bind, __sys_listen		BIND, LISTEN
 *   __sys_accept4			ACCEPT: accept(2) and accept4(2)
 *   __sys_connect, __sys_shutdown	CONNECT, SHUTDOWN
 *   __sys_socket_file, __sys_bind_socket, __sys_listen_socket, do_accept, io_connect,
 *   __sys_shutdown_sock		the same by requests of io_uring
 *   __sock_create, kernel_bind, kernel_listen, kernel_accept, kernel_connect,
 *   kernel_sock_shutdown, sock_release	the same by the kernel for its own sockets (NFS, MPTCP ...)
 *   sock_close				CLOSE: the last file of a socket is gone, also by exit(2),
 *					or in a message that is never received
 *   sock:inet_sock_set_state		STATE: a socket of TCP or MPTCP changes its state
 *
 * The functions of the system calls see every call once: of 64-bit programs, of 32-bit ones and
 * socketcall(2), those with a bad descriptor included. The functions for io_uring are called by it
 * alone, or the caller is checked. An attempt of io_uring that ends with EAGAIN is made again, and
 * is no event. io_uring installs the descriptor of a new socket later, so it is not known.
 *
 * accept(2) and connect(2) may sleep without bound, close(2) with SO_LINGER; the others wait for
 * the lock of the socket, or copy from memory that may never arrive. So all are followed by their
 * return address, with nothing of ours on the stack. A call that still sleeps when tracing stops is
 * no event. A descriptor is looked up when the call begins and again when it has returned; that is
 * the same socket if its cookie is the same. No reference is held meanwhile.
 *
 * An address is read from the program when the call begins; if it is not in memory, after the call,
 * when the kernel has brought it in (LATE), and only if the socket itself does not tell it.
 *
 * Contexts: entry and return of the functions, in the task that calls, in process context; a file
 * may also be released by a kernel thread. The tracepoint fires in softirqs, where the current task
 * is any one: its events belong to the owner of the socket (socket_owner.c). Handlers never sleep.
 *
 * The end of a handshake is a change to ESTABLISHED. One that connect(2) has begun has its duration
 * since then, whether or not that has waited. For accept(2), it is when a connection begins to
 * wait. On older kernels (6.12), the first change of a new connection, from LISTEN to SYN_RECV, has
 * neither its number nor its other end yet.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_CONN /* left_out.h */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/net.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include <trace/events/sock.h>
#include "compat/io_uring.h"
#include "core/clock.h"
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "hook/point.h"
#include "hook/symbol.h"
#include "record/category.h"
#include "record/event.h"
#include "probe/categories.h"
#include "probe/conn_list.h"
#include "probe/conn_record.h"
#include "probe/socket_owner.h"
#include "probe/waiting.h"
#include "uapi/iotracer.h"

#define ARGS	6

/**
 * struct frame - a call in progress
 * @r:		the record
 * @object:	the kernel's struct socket, or what it fills in with one, or the request; else NULL
 * @user:	address in the program: of an address, or of the descriptors of a pair
 * @end:	CLOCK_MONOTONIC ns, when the call has returned
 * @length:	of the address
 * @unread:	the address is to be read after the call
 */
struct frame {
	struct iot_conn r;
	const void *object;
	u64 user;
	u64 end;
	s32 length;
	bool unread;
};

/**
 * struct call - a function
 * @begin:	notes the arguments; false: it is no event
 * @end:	notes the result; false: it is no event, or was recorded already
 * @op:		the operation
 * @flags:	IOT_CONN_* of all its events
 * @by_uring:	only if io_uring calls it
 */
struct call {
	bool (*begin)(struct frame *f, const unsigned long *a);
	bool (*end)(struct frame *f, long result);
	u16 op;
	u32 flags;
	bool by_uring;
};

static struct iot_category * const category = &iot_category_conn;

/* Note a socket that stays meanwhile. Return: false if it is none. */
static bool note_socket(struct frame *f, struct socket *sock)
{
	struct sock *sk = sock ? READ_ONCE(sock->sk) : NULL;

	if (!sk)
		return false;
	iot_conn_note(&f->r, sk);
	f->r.inode = SOCK_INODE(sock)->i_ino;
	return true;
}

/* Note the socket of a descriptor. The kernel most likely finds the same one. */
static bool note_descriptor(struct frame *f, int fd)
{
	struct file *file = fd < 0 ? NULL : fget(fd);
	bool is_socket = file && note_socket(f, sock_from_file(file));

	if (file)
		fput(file);
	return is_socket;
}

static void note_ends_of(struct frame *f, const struct sock *sk)
{
	struct iot_conn *r = &f->r;

	if (r->state)
		r->state = READ_ONCE(sk->sk_state);
	iot_conn_note_ends(r, sk);
	if (r->op != IOT_CONN_CONNECT)
		iot_conn_note_name(r, sk);
}

/* Note the ends of the same socket after the call, which may have changed them. */
static void note_again(struct frame *f)
{
	struct socket *sock = (struct socket *)f->object;
	struct file *file = NULL;

	if (!sock && f->r.cookie && f->r.fd >= 0) {
		file = fget(f->r.fd);
		sock = file ? sock_from_file(file) : NULL;
	}
	if (sock && sock->sk && atomic64_read(&sock->sk->sk_cookie) == (s64)f->r.cookie)
		note_ends_of(f, sock->sk);
	if (file)
		fput(file);
}

/* Read the address that the call is given. Return: false if it is not in memory now. */
static bool read_address(struct frame *f)
{
	struct sockaddr_storage address;

	if (f->length < 0 || f->length > (int)sizeof(address))
		return true; /* the kernel refuses it */
	if (copy_from_user_nofault(&address, u64_to_user_ptr(f->user), f->length))
		return false;
	iot_conn_ask(&f->r, &address, f->length);
	return true;
}

/* The socket does not tell the address of a call that has failed. */
static void read_address_late(struct frame *f)
{
	if (f->unread)
		f->r.flags |= read_address(f) ? IOT_CONN_LATE : IOT_CONN_UNREAD;
}

static void note_asked(struct frame *f, u64 address, int length)
{
	f->user = address;
	f->length = length;
	f->unread = !read_address(f);
}

/* SOCKET_CREATE */

static void note_kind(struct iot_conn *r, int family, int type, int protocol)
{
	r->family = family;
	r->type = type & SOCK_TYPE_MASK;
	r->protocol = protocol;
	r->flags |= type & (SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static bool begin_socket(struct frame *f, const unsigned long *a)
{
	note_kind(&f->r, a[0], a[1], a[2]);
	return true;
}

static bool end_socket(struct frame *f, long result)
{
	f->r.result = result;
	if (result < 0)
		return true;
	f->r.fd = result;
	if (note_descriptor(f, result))
		iot_socket_owner_became(f->r.cookie, f->r.inode, NULL);
	return true;
}

/*
 * sock_alloc_file(socket, ...): a socket that is made for a program gets its file, and no
 * descriptor yet. So it is noted before the worker that lists sockets can see it. One that is being
 * accepted has no struct sock yet.
 */
static bool begin_file(struct frame *f, const unsigned long *a)
{
	if (note_socket(f, (struct socket *)a[0]))
		iot_socket_owner_became(f->r.cookie, f->r.inode, NULL);
	return false;
}

/* Of a file that the caller holds. */
static bool end_socket_file(struct frame *f, long result)
{
	if (IS_ERR_VALUE(result))
		f->r.result = result;
	else if (note_socket(f, sock_from_file((struct file *)result)))
		iot_socket_owner_became(f->r.cookie, f->r.inode, NULL);
	return true;
}

static bool begin_pair(struct frame *f, const unsigned long *a)
{
	f->user = a[3];
	return begin_socket(f, a);
}

static bool end_pair(struct frame *f, long result)
{
	s32 fds[2];

	f->r.result = result;
	if (result < 0)
		return true;
	if (copy_from_user_nofault(fds, u64_to_user_ptr(f->user), sizeof(fds))) {
		f->r.flags |= IOT_CONN_UNREAD;
		return true;
	}
	end_socket(f, fds[0]);
	f->r.result = 0;
	iot_conn_record(&f->r, iot_clock_since(f->r.time, f->end));
	end_socket(f, fds[1]);
	f->r.result = 0;
	return true;
}

/* __sock_create(net, family, type, protocol, &socket, kern): not for what a program asks for */
static bool begin_kernel_socket(struct frame *f, const unsigned long *a)
{
	note_kind(&f->r, a[1], a[2], a[3]);
	f->object = (const void *)a[4];
	return a[5];
}

static bool end_kernel_socket(struct frame *f, long result)
{
	f->r.result = result;
	if (!result && note_socket(f, *(struct socket *const *)f->object))
		iot_socket_owner_became(f->r.cookie, f->r.inode, NULL);
	return true;
}

/* BIND, LISTEN, SHUTDOWN: by descriptor, and by socket */

static void begin_descriptor(struct frame *f, const unsigned long *a)
{
	f->r.fd = a[0];
	note_descriptor(f, f->r.fd);
}

static void begin_object(struct frame *f, const unsigned long *a)
{
	f->object = (const void *)a[0];
	note_socket(f, (struct socket *)a[0]);
}

static bool end_object(struct frame *f, long result)
{
	f->r.result = result;
	if (!result)
		note_again(f);
	return true;
}

static bool begin_bind(struct frame *f, const unsigned long *a)
{
	begin_descriptor(f, a);
	note_asked(f, a[1], a[2]);
	return true;
}

static bool end_bind(struct frame *f, long result)
{
	if (result)
		read_address_late(f);
	return end_object(f, result);
}

static bool begin_bind_object(struct frame *f, const unsigned long *a)
{
	begin_object(f, a);
	iot_conn_ask(&f->r, (const void *)a[1], a[2]);
	return true;
}

static bool begin_listen(struct frame *f, const unsigned long *a)
{
	begin_descriptor(f, a);
	f->r.backlog = a[1];
	return true;
}

static bool begin_listen_object(struct frame *f, const unsigned long *a)
{
	begin_object(f, a);
	f->r.backlog = a[1];
	return true;
}

static bool begin_shutdown(struct frame *f, const unsigned long *a)
{
	begin_descriptor(f, a);
	f->r.how = a[1];
	return true;
}

static bool begin_shutdown_object(struct frame *f, const unsigned long *a)
{
	begin_object(f, a);
	f->r.how = a[1];
	return true;
}

/* ACCEPT */

static bool begin_accept(struct frame *f, const unsigned long *a)
{
	begin_descriptor(f, a);
	f->r.listener = f->r.cookie;
	f->r.flags |= a[3] & (SOCK_NONBLOCK | SOCK_CLOEXEC);
	return true;
}

/* do_accept(file, ..., flags): the file stays during the request */
static bool begin_accept_file(struct frame *f, const unsigned long *a)
{
	note_socket(f, sock_from_file((struct file *)a[0]));
	f->r.listener = f->r.cookie;
	f->r.flags |= a[4] & (SOCK_NONBLOCK | SOCK_CLOEXEC);
	return true;
}

/* kernel_accept(socket, &new, flags) */
static bool begin_kernel_accept(struct frame *f, const unsigned long *a)
{
	note_socket(f, (struct socket *)a[0]);
	f->r.listener = f->r.cookie;
	f->object = (const void *)a[1];
	return true;
}

/* Note the socket that was accepted. */
static void note_accepted(struct frame *f, struct socket *sock)
{
	u64 since;

	if (!note_socket(f, sock))
		return;
	iot_socket_owner_became(f->r.cookie, f->r.inode, &since);
	f->r.queued = since ? iot_clock_since(since, f->end) : 0;
}

/* Another thread may have closed the descriptor, and made it another file, by now. */
static bool end_accept(struct frame *f, long result)
{
	struct file *file = result < 0 ? NULL : fget(result);
	struct socket *sock = file ? sock_from_file(file) : NULL;

	f->r.result = result;
	if (sock && sock->sk && sock->sk->sk_family == f->r.family && sock->type == f->r.type)
		note_accepted(f, sock);
	if (file)
		fput(file);
	return true;
}

static bool end_accept_file(struct frame *f, long result)
{
	if (result == -EAGAIN)
		return false;
	if (IS_ERR_VALUE(result))
		f->r.result = result;
	else
		note_accepted(f, sock_from_file((struct file *)result));
	return true;
}

static bool end_kernel_accept(struct frame *f, long result)
{
	f->r.result = result;
	if (!result)
		note_accepted(f, *(struct socket *const *)f->object);
	return true;
}

/* CONNECT */

static bool is_tcp(const struct iot_conn *r)
{
	return r->state && r->family != AF_UNIX;
}

/* @again: io_uring connects a socket once more, after it could not wait. */
static void note_connecting(struct frame *f, bool again)
{
	u64 began = again ? 0 : f->r.time;

	if (is_tcp(&f->r))
		iot_socket_owner_connects(f->r.cookie, f->r.inode, &began);
	if (began)
		f->r.time = began;
}

static bool begin_connect(struct frame *f, const unsigned long *a)
{
	begin_descriptor(f, a);
	note_asked(f, a[1], a[2]);
	note_connecting(f, false);
	return true;
}

/* Is the socket connected, or on its way to be? Then it knows its ends. */
static bool is_connecting(long result)
{
	return !result || result == -EINPROGRESS || iot_event_is_interrupted(result);
}

static bool end_connect(struct frame *f, long result)
{
	f->r.result = result;
	if (f->r.family == AF_UNIX || !is_connecting(result))
		read_address_late(f);
	if (is_connecting(result))
		note_again(f);
	return true;
}

/* kernel_connect(socket, address, length, flags) */
static bool begin_kernel_connect(struct frame *f, const unsigned long *a)
{
	begin_object(f, a);
	iot_conn_ask(&f->r, (const void *)a[1], a[2]);
	note_connecting(f, false);
	return true;
}

static bool begin_uring_connect(struct frame *f, const unsigned long *a)
{
	const struct io_kiocb *req = (const void *)a[0];
	const struct iot_uring_connect *c = iot_uring_connect_of(req);
	const struct sockaddr_storage *address = iot_uring_connect_address(req);

	f->object = req;
	if (!(req->flags & REQ_F_FIXED_FILE))
		f->r.fd = req->cqe.fd;
	note_socket(f, sock_from_file(req->file));
	if (!address)
		note_asked(f, (unsigned long)c->addr, c->addr_len);
	else if (address->ss_family == f->r.family)
		iot_conn_ask(&f->r, address, c->addr_len);
	note_connecting(f, c->in_progress);
	return true;
}

/* io_connect() returns 0 if the request has its result. */
static bool end_uring_connect(struct frame *f, long result)
{
	const struct io_kiocb *req = f->object;

	if (result == -EAGAIN)
		return false;
	f->object = sock_from_file(req->file);
	return end_connect(f, result < 0 ? result : req->cqe.res);
}

/* CLOSE */

/* sock_close(inode, file): a socket that has failed to be accepted has no struct sock */
static bool begin_close(struct frame *f, const unsigned long *a)
{
	return note_socket(f, sock_from_file((struct file *)a[1]));
}

/* sock_release(socket): also called for those that failed to be made for a program */
static bool begin_release(struct frame *f, const unsigned long *a)
{
	return note_socket(f, (struct socket *)a[0]) &&
	       ((struct socket *)a[0])->sk->sk_kern_sock;
}

/* The socket may be gone. */
static bool end_close(struct frame *f, long result)
{
	iot_socket_owner_closed(f->r.cookie, is_tcp(&f->r));
	return true;
}

#define CALL(name, o, b, e)		\
	static const struct call name = { .begin = (b), .end = (e), .op = IOT_CONN_##o }
#define URING_CALL(name, o, b, e, by)	\
	static const struct call name = { .begin = (b), .end = (e), .op = IOT_CONN_##o,	\
					  .flags = IOT_CONN_URING, .by_uring = (by) }
#define KERNEL_CALL(name, o, b, e)	\
	static const struct call name = { .begin = (b), .end = (e), .op = IOT_CONN_##o,	\
					  .flags = IOT_CONN_KERNEL }

CALL(call_socket, SOCKET_CREATE, begin_socket, end_socket);
static const struct call call_pair = { .begin = begin_pair, .end = end_pair,
	.op = IOT_CONN_SOCKET_CREATE, .flags = IOT_CONN_PAIR };
CALL(call_file, SOCKET_CREATE, begin_file, NULL);
CALL(call_bind, BIND, begin_bind, end_bind);
CALL(call_listen, LISTEN, begin_listen, end_object);
CALL(call_accept, ACCEPT, begin_accept, end_accept);
CALL(call_connect, CONNECT, begin_connect, end_connect);
CALL(call_shutdown, SHUTDOWN, begin_shutdown, end_object);
CALL(call_close, CLOSE, begin_close, end_close);
URING_CALL(uring_socket, SOCKET_CREATE, begin_socket, end_socket_file, false);
URING_CALL(uring_bind, BIND, begin_bind_object, end_object, true);
URING_CALL(uring_listen, LISTEN, begin_listen_object, end_object, true);
URING_CALL(uring_accept, ACCEPT, begin_accept_file, end_accept_file, true);
URING_CALL(uring_connect, CONNECT, begin_uring_connect, end_uring_connect, false);
URING_CALL(uring_shutdown, SHUTDOWN, begin_shutdown_object, end_object, true);
KERNEL_CALL(kernels_socket, SOCKET_CREATE, begin_kernel_socket, end_kernel_socket);
KERNEL_CALL(kernels_bind, BIND, begin_bind_object, end_object);
KERNEL_CALL(kernels_listen, LISTEN, begin_listen_object, end_object);
KERNEL_CALL(kernels_accept, ACCEPT, begin_kernel_accept, end_kernel_accept);
KERNEL_CALL(kernels_connect, CONNECT, begin_kernel_connect, end_connect);
KERNEL_CALL(kernels_shutdown, SHUTDOWN, begin_shutdown_object, end_object);
KERNEL_CALL(kernels_release, CLOSE, begin_release, end_close);

#define SITE(name, c, w, p)	{ .symbol = (name), .what = (w), .data = &(c), .proto = (p),	\
				  .unbounded = true }

#define SOCK_PROTO(rest)	"int (struct socket *, " rest ")"

static struct iot_site sites[] = {
	SITE("__sys_socket", call_socket, "SOCKET_CREATE", "int (int, int, int)"),
	SITE("__sys_socketpair", call_pair, "SOCKET_CREATE", "int (int, int, int, int *)"),
	SITE("sock_alloc_file", call_file, "SOCKET_CREATE",
	     "struct file * (struct socket *, int, char *)"),
	SITE("__sys_bind", call_bind, "BIND", "int (int, struct sockaddr *, int)"),
	SITE("__sys_listen", call_listen, "LISTEN", "int (int, int)"),
	SITE("__sys_accept4", call_accept, "ACCEPT", "int (int, struct sockaddr *, int *, int)"),
	SITE("__sys_connect", call_connect, "CONNECT", "int (int, struct sockaddr *, int)"),
	SITE("__sys_shutdown", call_shutdown, "SHUTDOWN", "int (int, int)"),
	SITE("sock_close", call_close, "CLOSE", "int (struct inode *, struct file *)"),
	SITE("__sys_socket_file", uring_socket, "SOCKET_CREATE", "struct file * (int, int, int)"),
	SITE("__sys_bind_socket", uring_bind, "BIND", SOCK_PROTO("_, int")), /* since 6.11 */
	SITE("__sys_listen_socket", uring_listen, "LISTEN", SOCK_PROTO("int")), /* since 6.11 */
	SITE("do_accept", uring_accept, "ACCEPT",
	     "struct file * (struct file *, _, struct sockaddr *, int *, int)"),
	SITE("io_connect", uring_connect, "CONNECT", "int (struct io_kiocb *, int)"),
	SITE("__sys_shutdown_sock", uring_shutdown, "SHUTDOWN", SOCK_PROTO("int")),
	SITE("__sock_create", kernels_socket, "SOCKET_CREATE",
	     "int (struct net *, int, int, int, struct socket **, int)"),
	SITE("kernel_bind", kernels_bind, "BIND", SOCK_PROTO("_, int")),
	SITE("kernel_listen", kernels_listen, "LISTEN", SOCK_PROTO("int")),
	SITE("kernel_accept", kernels_accept, "ACCEPT", SOCK_PROTO("struct socket **, int")),
	SITE("kernel_connect", kernels_connect, "CONNECT", SOCK_PROTO("_, int, int")),
	SITE("kernel_sock_shutdown", kernels_shutdown, "SHUTDOWN", SOCK_PROTO("int")),
	SITE("sock_release", kernels_release, "CLOSE", "void (struct socket *)"),
};

/*
 * Does a function of io_uring call? To find its name takes microseconds, so the last address that
 * was one, and the last that was none, are kept. Context: any.
 */
static bool is_by_uring(unsigned long caller)
{
	static unsigned long last_yes, last_no;
	char name[8];

	if (caller == READ_ONCE(last_yes) || caller == READ_ONCE(last_no))
		return caller == READ_ONCE(last_yes);
	snprintf(name, sizeof(name), "%pB", (void *)caller);
	if (strncmp(name, "io_", 3)) {
		WRITE_ONCE(last_no, caller);
		return false;
	}
	WRITE_ONCE(last_yes, caller);
	return true;
}

/* All calls are followed, whatever the filter: owners have to be known when it changes. */
static bool wants_call(const struct iot_site *site, unsigned long caller)
{
	const struct call *c = site->data;

	return iot_category_active(category) && (!c->by_uring || is_by_uring(caller));
}

static enum iot_hook_verdict wants(const struct iot_site *site, const unsigned long *args,
				   unsigned long caller)
{
	return wants_call(site, caller) ? IOT_HOOK_FOLLOW_RETURN : IOT_HOOK_IGNORE;
}

static int entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct iot_site *site = iot_site_of(ri);
	struct frame *f = (struct frame *)ri->data;
	const struct call *c = site->data;
	unsigned long args[ARGS];

	/* else wants() has checked the caller */
	if (site->armed && !wants_call(site, iot_caller_of(regs)))
		return 1;
	iot_kretprobe_args(regs, args, ARRAY_SIZE(args));
	iot_conn_begin(&f->r, c->op, ktime_get_mono_fast_ns());
	f->r.flags = c->flags;
	f->object = NULL;
	f->unread = false;
	return c->begin(f, args) ? 0 : 1;
}

/* Some of the functions return a pointer, sock_release() nothing; the others an int. */
static long result_of(const struct call *c, struct pt_regs *regs)
{
	long result = regs_return_value(regs);

	if (c == &uring_socket || c == &uring_accept)
		return result;
	return c->op == IOT_CONN_CLOSE ? 0 : (s32)result;
}

static int probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct iot_site *site = iot_site_of(ri);
	struct frame *f = (struct frame *)ri->data;
	const struct call *c = site->data;

	f->end = ktime_get_mono_fast_ns();
	if (!c->end(f, result_of(c, regs)))
		return 0;
	f->r.result = iot_event_result(f->r.result);
	iot_conn_record(&f->r, iot_clock_since(f->r.time, f->end));
	return 0;
}

/*
 * Is it a new connection that still is a copy of the socket that listens? It has the cookie of that
 * then, and no other end (inet_csk_clone_lock()). Newer kernels set the state after the ends.
 */
static bool is_copy(const struct sock *sk, int old, int state)
{
	return old == TCP_LISTEN && state == TCP_SYN_RECV && !sk->sk_dport;
}

/* STATE. Context: any */
static void state_changed(void *data, const struct sock *sk, const int old, const int state)
{
	IOT_POINT_ENTER();
	struct iot_socket_owner owner = { .uid = UINT_MAX };
	u64 now = ktime_get_mono_fast_ns(), since = 0;
	u64 copied = atomic64_read(&sk->sk_cookie);
	struct iot_conn r;

	if (!iot_category_active(category) ||
	    (sk->sk_protocol != IPPROTO_TCP && sk->sk_protocol != IPPROTO_MPTCP))
		return;
	iot_conn_begin(&r, IOT_CONN_STATE, now);
	iot_conn_note(&r, (struct sock *)sk);
	r.old_state = old;
	r.state = state;
	if (sk->sk_kern_sock)
		r.flags = IOT_CONN_KERNEL;
	if (is_copy(sk, old, state)) {
		r.listener = copied;
		r.cookie = 0;
	} else if (iot_socket_owner_changed(r.cookie, old, state, now, &since, &owner)) {
		r.inode = owner.inode;
	}
	if (since)
		r.time = since;
	iot_conn_record_owner(&r, &owner, since ? iot_clock_since(since, now) : 0);
}

static struct iot_point points[] = {
	{ .name = "inet_sock_set_state", .probe = state_changed },
};

static struct iot_hook_set set = {
	.sites = sites,
	.nr = ARRAY_SIZE(sites),
	.wants = wants,
	.entry = entry,
	.exit = probe_exit,
	.data_size = sizeof(struct frame),
};

/* If the requests of this kernel are others, they are not hooked, which is reported. */
static void check_requests(void)
{
	unsigned int i;

	if (iot_uring_connect_fits())
		return;
	for (i = 0; i < ARRAY_SIZE(sites); i++)
		if (sites[i].data == &uring_connect)
			sites[i].proto = "struct io_connect * ()";
}

static int start(void)
{
	int err;

	check_trace_callback_type_inet_sock_set_state(state_changed);
	check_requests();
	err = iot_socket_owners_get();
	if (err)
		return err;
	err = iot_hook_set_start(&set, points, ARRAY_SIZE(points));
	if (err)
		iot_socket_owners_put();
	return err;
}

static void stop(void)
{
	iot_conn_list_end();
	iot_hook_set_stop(&set, points, ARRAY_SIZE(points));
	iot_socket_owners_put();
}

static unsigned long missed(void)
{
	return iot_hook_set_missed(&set);
}

static void release(void)
{
	iot_conn_list_exit();
	iot_socket_owners_exit();
}

const struct iot_category_ops iot_conn_ops = {
	.start = start,
	.stop = stop,
	.begin = iot_conn_list_begin,
	.missed = missed,
	.release = release,
	.waiting = &iot_conn_waiting,
};

#endif /* IOT_WITHOUT_CONN */
