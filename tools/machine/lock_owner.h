/* SPDX-License-Identifier: GPL-2.0 */
/* Finds the process that holds a lock. */
#ifndef TOOL_MACHINE_LOCK_OWNER_H
#define TOOL_MACHINE_LOCK_OWNER_H

#include <sys/types.h>

/* The PID of a process with a flock(2) lock on an open file; 0 if it is not visible. */
pid_t lock_owner_find(int fd);

/* "process 12 (its command line)", for messages. Allocates, and never returns NULL. */
char *lock_owner_text(pid_t pid);

#endif /* TOOL_MACHINE_LOCK_OWNER_H */
