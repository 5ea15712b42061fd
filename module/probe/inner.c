// SPDX-License-Identifier: GPL-2.0
/*
 * Reads and writes that the kernel makes itself: not from or to a program's memory, but because
 * sendfile(2) or a similar call asks for a transfer, or because a server or a loop device has
 * work. The current task and its system call show what a transfer is for.
 */
#include <linux/compat.h>
#include <linux/kernel.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <asm/syscall.h>
#include "compat/compat.h"
#include "compat/syscall.h"
#include "probe/inner.h"
#include "uapi/iotracer.h"

#ifdef IOT_ARCH_KNOWN
static const struct {
	u16 flags;
	int number;
	int number32;	/* system call number of 32-bit programs */
} calls[] = {
#define CALL(flags, name)	{ flags, __NR_##name, IOT_NR32(name) }
	{ IOT_IO_SENDFILE, __NR_sendfile, IOT_NR32(sendfile64) },
	CALL(IOT_IO_SENDFILE, sendfile),
	CALL(IOT_IO_SPLICE, splice),
	CALL(IOT_IO_COPY, copy_file_range),
	CALL(IOT_IO_SPLICE | IOT_IO_URING, io_uring_enter),
};

/* The program chooses the number of the call: one that is not in @calls has no flags. */
static u16 flags_of_syscall(void)
{
	int number = syscall_get_nr(current, current_pt_regs());
	bool is_32 = in_compat_syscall();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (number == (is_32 ? calls[i].number32 : calls[i].number))
			return calls[i].flags;
	return 0;
}
#else
static u16 flags_of_syscall(void)
{
	return 0;
}
#endif

/**
 * iot_inner_flags() - get the IOT_IO_* of a read or write from or to the kernel's own memory
 *
 * Not for the read or write of an io_uring request itself, which may also use kernel memory. Any
 * other read or write that a task of io_uring makes belongs to a splice request.
 * Context: any task.
 */
u16 iot_inner_flags(void)
{
	if (current->flags & PF_KTHREAD)
		return IOT_IO_KERNEL | (strcmp(current->comm, "nfsd") ? 0 : IOT_IO_NFSD);
	if (current->flags & PF_IO_WORKER)
		return IOT_IO_KERNEL | IOT_IO_SPLICE | IOT_IO_URING;
	return IOT_IO_KERNEL | flags_of_syscall();
}
