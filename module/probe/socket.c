// SPDX-License-Identifier: GPL-2.0
/*
 * What records of the network categories say of a socket: its addresses, its number, its network
 * namespace, and the descriptor that a program uses for it.
 *
 * The socket is not locked: another thread may bind, connect or disconnect it meanwhile. Each
 * field is then the old or the new one. The words of an IPv6 address are read one by one.
 */
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ns_common.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sock_diag.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/un.h>
#include <net/af_unix.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <asm/syscall.h>
#include "compat/compat.h"
#include "probe/inner.h"
#include "probe/socket.h"

#if IS_ENABLED(CONFIG_IPV6)
/* iot_socket_local() of a socket of IPv6. */
void iot_socket_local6(const struct sock *sk, struct in6_addr *to)
{
	const struct ipv6_pinfo *np = inet6_sk(sk);

	*to = sk->sk_v6_rcv_saddr;
	if (np && ipv6_addr_any(to))
		*to = np->saddr;
}
#endif

/**
 * iot_socket_named() - get the address that a message names
 * @name:	struct sockaddr in the kernel's memory, or NULL
 * @length:	bytes
 *
 * Return: false if there is none of IPv4 or IPv6; @to is unchanged then. Context: any.
 */
bool iot_socket_named(const void *name, int length, struct iot_address *to)
{
	const struct sockaddr_in6 *in6 = name;
	const struct sockaddr_in *in = name;

	if (!name || length < (int)sizeof(*in))
		return false;
	if (in->sin_family == AF_INET) {
		ipv6_addr_set_v4mapped(in->sin_addr.s_addr, &to->ip);
		to->port = be16_to_cpu(in->sin_port);
		return true;
	}
	if (in->sin_family != AF_INET6 || length < (int)SIN6_LEN_RFC2133)
		return false;
	to->ip = in6->sin6_addr;
	to->port = be16_to_cpu(in6->sin6_port);
	return true;
}

/** iot_socket_unix_name() - get the name of a UNIX socket, or NULL if it has none. Context: any */
const struct unix_address *iot_socket_unix_name(const struct sock *sk)
{
	if (sk->sk_family != AF_UNIX)
		return NULL;
	/* pairs with unix_bind(), which stores it when it is filled in; it stays with the socket */
	return smp_load_acquire(&((const struct unix_sock *)sk)->addr);
}

/** iot_socket_name_length() - get the bytes of a name, for iot_socket_copy_name() */
int iot_socket_name_length(const struct unix_address *address)
{
	return address->len - (int)offsetof(struct sockaddr_un, sun_path);
}

/**
 * iot_socket_copy_name() - copy the name of a UNIX socket as text
 * @to:		UNIX_PATH_MAX bytes; without a NUL if the name takes all of them
 * @length:	bytes of @name, may be any
 *
 * An abstract name begins with a byte of 0, and may have more of them. Context: any.
 * Return: whether it is abstract.
 */
bool iot_socket_copy_name(char *to, const char *name, int length)
{
	int i;

	memset(to, 0, UNIX_PATH_MAX);
	length = min(length, UNIX_PATH_MAX);
	if (length <= 0)
		return false;
	if (name[0]) {
		memcpy(to, name, strnlen(name, length));
		return false;
	}
	for (i = 0; i < length; i++)
		to[i] = name[i] ?: '@';
	return true;
}

/* Give a socket its number (net/core/sock_diag.c). */
u64 iot_socket_new_cookie(struct sock *sk)
{
	u32 words[2];

	sock_diag_save_cookie(sk, words);
	return words[0] | (u64)words[1] << 32;
}

/* An argument of the current system call. */
static u32 argument(unsigned int n)
{
#ifdef IOT_ARCH_KNOWN
	const struct pt_regs *regs = current_pt_regs();

	return iot_syscall_is_32() ? iot_syscall_arg32(regs, n) : iot_syscall_arg(regs, n);
#else
	unsigned long args[6];

	syscall_get_arguments(current, current_pt_regs(), args);
	return args[n];
#endif
}

/* @fd if it is a descriptor of @file, else -1. A negative one is too large. Preemption is off. */
static __always_inline int verified(unsigned int fd, const struct file *file)
{
	return file && files_lookup_fd_raw(current->files, fd) == file ? fd : -1;
}

/**
 * iot_socket_fd() - get the descriptor of a socket if it is an argument of the current system call
 * @file:	of the socket; NULL if it is the kernel's own
 * @arg:	which argument, from 0
 *
 * The number is taken from the program's registers, which it chooses: so it counts only if its
 * descriptor is this file. Context: task, preemption off. Return: -1 if it is not an argument, or
 * not known.
 */
int iot_socket_fd(const struct file *file, unsigned int arg)
{
	if (!current->files || (current->flags & (PF_KTHREAD | PF_IO_WORKER)))
		return -1;
	return verified(argument(arg), file);
}

/**
 * iot_socket_call_fd() - get the descriptor of a socket if the current system call only transfers
 * data to or from it
 *
 * Quick, and only for the most frequent calls: see iot_inner_is_none(). Context and result as
 * above.
 */
int iot_socket_call_fd(const struct file *file)
{
#ifdef IOT_ARCH_KNOWN
	if (likely(iot_inner_is_none()))
		return verified(iot_syscall_arg(current_pt_regs(), 0), file);
#endif
	return -1;
}

/**
 * iot_socket_call_file() - get a reference to the open file that an argument of the current system
 * call names
 *
 * Context: task. Return: NULL if its descriptor is closed, or the task has no system call.
 */
struct file *iot_socket_call_file(unsigned int arg)
{
	if (!current->files || (current->flags & (PF_KTHREAD | PF_IO_WORKER)))
		return NULL;
	return fget(argument(arg));
}
