/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers of system calls. Those of 64-bit programs are __NR_*; IOT_NR32(name) is the number that
 * 32-bit programs use, -1 if the kernel runs none.
 */
#ifndef IOT_COMPAT_SYSCALL_H
#define IOT_COMPAT_SYSCALL_H

#include <asm/unistd.h>
#ifdef CONFIG_IA32_EMULATION
#include <asm/unistd_32_ia32.h>
#endif

#ifdef CONFIG_IA32_EMULATION
#define IOT_NR32(name)		__NR_ia32_##name
#elif defined(CONFIG_ARM64) && defined(CONFIG_COMPAT)
/* from arch/arm/tools/syscall.tbl; its header conflicts with the 64-bit one */
#define IOT_ARM_restart_syscall	0
#define IOT_ARM_read		3
#define IOT_ARM_write		4
#define IOT_ARM__newselect	142
#define IOT_ARM_readv		145
#define IOT_ARM_writev		146
#define IOT_ARM_poll		168
#define IOT_ARM_sendfile	187
#define IOT_ARM_sendfile64	239
#define IOT_ARM_epoll_wait	252
#define IOT_ARM_connect		283
#define IOT_ARM_accept		285
#define IOT_ARM_send		289
#define IOT_ARM_sendto		290
#define IOT_ARM_recv		291
#define IOT_ARM_recvfrom	292
#define IOT_ARM_sendmsg		296
#define IOT_ARM_recvmsg		297
#define IOT_ARM_pselect6	335
#define IOT_ARM_ppoll		336
#define IOT_ARM_splice		340
#define IOT_ARM_epoll_pwait	346
#define IOT_ARM_recvmmsg	365
#define IOT_ARM_accept4		366
#define IOT_ARM_sendmmsg	374
#define IOT_ARM_copy_file_range	391
#define IOT_ARM_preadv2		392
#define IOT_ARM_pwritev2	393
#define IOT_ARM_pselect6_time64	413
#define IOT_ARM_ppoll_time64	414
#define IOT_ARM_recvmmsg_time64	417
#define IOT_ARM_io_uring_enter	426
#define IOT_ARM_epoll_pwait2	441
#define IOT_NR32(name)		IOT_ARM_##name
#else
#define IOT_NR32(name)		(sizeof(#name) ? -1 : 0)
#endif

#endif /* IOT_COMPAT_SYSCALL_H */
