/* SPDX-License-Identifier: GPL-2.0 */
/* Which process it is that stands in the way. */
#ifndef TOOL_HOLDER_H
#define TOOL_HOLDER_H

#include <sys/types.h>

/* The process that holds a lock of flock(2) on an open file; 0 if that is not to be seen. */
pid_t holder_of_lock(int fd);

/* "process 12 (its command line)", for messages. Allocates, and never returns NULL. */
char *holder_text(pid_t pid);

#endif /* TOOL_HOLDER_H */
