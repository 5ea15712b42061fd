/* SPDX-License-Identifier: GPL-2.0 */
/* Threads that wait in a system call of a category, and so have no record of it yet. */
#ifndef IOT_WAITING_H
#define IOT_WAITING_H

#include <linux/types.h>
#include "compat/arch.h"
#include "compat/syscall.h"

struct files_struct;
struct iot_category;
struct iot_filter;
struct restart_block;
struct socket;
struct task_struct;

#define IOT_WAITING_ARGS	6

/**
 * struct iot_waiting_call - a system call that may sleep without bound
 * @number:	of the system call, -1 if only 32-bit programs have it
 * @number32:	of the same of 32-bit programs, -1 if there is none
 * @op:		operation of the category
 * @fd:		number of the argument with the descriptor, from 0 on
 * @size:	number of the argument with the size or maximum, like the next three; 0: none
 * @flags:	with the flags
 * @timeout:	with the timeout
 * @mask:	with the signal mask
 * @how:	for the category
 */
struct iot_waiting_call {
	s16 number;
	s16 number32;
	u8 op;
	u8 fd;
	u8 size;
	u8 flags;
	u8 timeout;
	u8 mask;
	u8 how;
};

/* An entry for programs of 64 and of 32 bits, for those of 64, and for those of 32 bits. */
#define IOT_WAITING_BOTH(name, ...)	\
	{ .number = __NR_##name, .number32 = IOT_NR32(name), __VA_ARGS__ }
#define IOT_WAITING_NATIVE(name, ...)	{ .number = __NR_##name, .number32 = -1, __VA_ARGS__ }
#define IOT_WAITING_NARROW(name, ...)	{ .number = -1, .number32 = IOT_NR32(name), __VA_ARGS__ }

/**
 * struct iot_waiting - a thread that sleeps in a system call
 * @task:	the thread; its lock is held
 * @files:	its table of files, whose lock is held
 * @args:	of the call
 * @number:	of the call
 * @is_32:	made by a 32-bit program
 * @poll:	the call is poll(2) or ppoll(2), made again by restart_syscall(2); else NULL
 */
struct iot_waiting {
	struct task_struct *task;
	struct files_struct *files;
	u64 args[IOT_WAITING_ARGS];
	int number;
	bool is_32;
	const struct restart_block *poll;
};

/**
 * struct iot_waiting_ops - the calls of a category that may sleep without bound
 * @calls:	all of them; several may have one number, of which the first that fits is taken
 * @note:	fill in a record, of which nothing is set yet. Return: false if it is no such call.
 *		Context: the locks of struct iot_waiting are held, in this order
 * @rejects:	check the filter's conditions on the socket; may be NULL. Context: preemption off
 */
struct iot_waiting_ops {
	const struct iot_waiting_call *calls;
	unsigned int nr_calls;
	bool (*note)(const struct iot_waiting *w, const struct iot_waiting_call *call,
		     void *record);
	bool (*rejects)(struct iot_category *c, const void *record);
};

/* Of the categories that have them; not there if the probes are left out. */
extern const struct iot_waiting_ops iot_net_waiting;	/* net_waiting.c */
extern const struct iot_waiting_ops iot_conn_waiting;	/* conn_waiting.c */
extern const struct iot_waiting_ops iot_epoll_waiting;	/* epoll_waiting.c */

void iot_waiting_prepare(void);
int iot_waiting_next(struct iot_category *c, int *nr, void *record);
struct socket *iot_waiting_socket(const struct iot_waiting *w, u32 fd);

#endif /* IOT_WAITING_H */
