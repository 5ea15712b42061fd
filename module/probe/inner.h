/* SPDX-License-Identifier: GPL-2.0 */
/* Reads and writes that the kernel makes itself, and the call that they are made for. */
#ifndef IOT_INNER_H
#define IOT_INNER_H

#include <linux/compat.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/types.h>
#include <asm/syscall.h>
#include <asm/unistd.h>
#include "compat/compat.h"

u16 iot_inner_flags(void);

#ifdef IOT_ARCH_KNOWN
/* Does the system call only read or write, send or receive, by the descriptor in its argument 0? */
static __always_inline bool iot_inner_is_transfer(int number)
{
	switch (number) {
	case __NR_read:
	case __NR_write:
	case __NR_readv:
	case __NR_writev:
	case __NR_sendto:
	case __NR_recvfrom:
	case __NR_sendmsg:
	case __NR_recvmsg:
		return true;
	}
	return false;
}
#endif

/**
 * iot_inner_is_none() - check that a read or write is what the program asked for by its system call
 *
 * A quick answer for the most frequent calls of 64-bit programs: false does not mean that the
 * kernel makes the read or write itself. Context: any task.
 */
static __always_inline bool iot_inner_is_none(void)
{
#ifdef IOT_ARCH_KNOWN
	return !(current->flags & (PF_KTHREAD | PF_IO_WORKER)) && !in_compat_syscall() &&
	       iot_inner_is_transfer(syscall_get_nr(current, current_pt_regs()));
#else
	return false;
#endif
}

#endif /* IOT_INNER_H */
