/* SPDX-License-Identifier: GPL-2.0 */
/* Which process it is that stands in the way. */
#ifndef TOOL_MACHINE_LOCK_OWNER_H
#define TOOL_MACHINE_LOCK_OWNER_H

#include <sys/types.h>

/* The process that holds a lock of flock(2) on an open file; 0 if that is not to be seen. */
pid_t lock_owner_find(int fd);

/* "process 12 (its command line)", for messages. Allocates, and never returns NULL. */
char *lock_owner_text(pid_t pid);

#endif /* TOOL_MACHINE_LOCK_OWNER_H */
