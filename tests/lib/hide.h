/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hides a kernel symbol that a part of the module needs, as if this kernel did not have it:
 * KCFLAGS="-DHIDE_URING -include .../hide.h". HIDE_ALL hides one symbol of each part.
 */
#include <linux/fs.h>
#include <linux/mm.h>

#ifdef HIDE_ALL
#define HIDE_FS_CALLS
#define HIDE_FS_REJECTED
#define HIDE_FAULT
#define HIDE_BLOCK
#define HIDE_CACHE
#define HIDE_URING
#define HIDE_SOCKOPT
#define HIDE_DROP
#define HIDE_NET
#define HIDE_EPOLL
#define HIDE_CONN
#endif

#ifdef HIDE_FS_CALLS
#include <linux/kdev_t.h>
#pragma GCC poison new_decode_dev
#endif

#ifdef HIDE_FS_REJECTED
#undef FMODE_PREAD
#endif

#ifdef HIDE_FAULT
#include <linux/pgtable.h>
#pragma GCC poison pmd_bad
#endif

#ifdef HIDE_BLOCK
#include <linux/blk-mq.h>
#pragma GCC poison biotail
#endif

#ifdef HIDE_CACHE
#include <linux/xarray.h>
#pragma GCC poison xas_next_entry
#endif

#ifdef HIDE_URING
#include <linux/io_uring_types.h>
#pragma GCC poison cached_cq_tail
#endif

#ifdef HIDE_SOCKOPT
/* its own: what it needs of the kernel, other parts need, too */
#pragma GCC poison note_given
#endif

#ifdef HIDE_DROP
#include <net/tcp.h>
#pragma GCC poison skb_iif
#endif

#ifdef HIDE_NET
#include <net/sock.h>
#pragma GCC poison sock_wspace
#endif

#ifdef HIDE_EPOLL
#include <uapi/linux/eventpoll.h>
#undef EPOLL_CTL_MOD
#endif

#ifdef HIDE_CONN
#include <linux/net.h>
#undef SOCK_TYPE_MASK
#endif
