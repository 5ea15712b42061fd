// SPDX-License-Identifier: GPL-2.0
/*
 * bind() of a Unix socket to a path, which makes a file: MKNOD. All ways to bind arrive at the
 * socket's own function: bind(2) of 64 and 32 bits, socketcall(2), io_uring, the kernel's own
 * sockets.
 *
 * Contexts: task; a wrapper may sleep, a kretprobe's handler may not.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_FS_CALLS /* left_out.h */
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include <linux/string.h>
#include <linux/un.h>
#include <net/af_unix.h>
#include <net/sock.h>
#include "probe/fs_frame.h"

/* The length of the path in an address; 0 if it has none: the name is abstract, or to be chosen. */
static size_t path_length(const struct sockaddr_un *address, long size)
{
	long length = size - (long)offsetof(struct sockaddr_un, sun_path);

	if (length <= 0 || length > UNIX_PATH_MAX || address->sun_family != AF_UNIX)
		return 0;
	return strnlen(address->sun_path, length);
}

/* unix_bind(socket, address, size): the address is the kernel's copy, valid during the call */
bool iot_socket_wants_bind(const u64 *a)
{
	return path_length((const struct sockaddr_un *)a[1], (s32)a[2]);
}

bool iot_socket_begin_bind(struct iot_frame *f)
{
	const struct sockaddr_un *address = (const struct sockaddr_un *)f->a[1];
	const struct socket *sock = (const struct socket *)f->a[0];
	size_t length = path_length(address, (s32)f->a[2]);

	f->e.flags2 = S_IFSOCK | (SOCK_INODE((struct socket *)sock)->i_mode & 07777);
	f->name[0].dfd = AT_FDCWD;
	if (f->may_sleep)
		f->name[0].text = kmemdup_nul(address->sun_path, length, GFP_KERNEL);
	else
		iot_fs_name(&f->e, address->sun_path, length, false, false);
	return true;
}

/* A bound socket keeps the path that it has made, so nothing is looked up. */
void iot_socket_end_bind(struct iot_frame *f, s64 result)
{
	const struct sock *sk = ((const struct socket *)f->a[0])->sk;

	if (!result && !iot_fs_file(&f->e, &unix_sk(sk)->path, f->may_sleep))
		return;
	if (result && iot_name_is_there(&f->name[0]))
		iot_name_record(f, &f->name[0], false);
	iot_fs_end(&f->e, result);
}

#endif /* IOT_WITHOUT_FS_CALLS */
