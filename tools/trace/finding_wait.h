/* SPDX-License-Identifier: GPL-2.0 */
/* Behind whose requests the requests of a process waited, as trace/blame.h divides it. */
#ifndef TOOL_TRACE_FINDING_WAIT_H
#define TOOL_TRACE_FINDING_WAIT_H

#include <linux/types.h>

#include "trace/finding.h"
#include "trace/io_event.h"

struct finding_waits;

/* A process on a disk, and whom it waited for most. */
struct finding_wait {
	__u64 requests, bytes;
	__u64 wait;		/* ns, of all its requests */
	__u64 behind;		/* ns of it that are charged to the other one */
	__u64 path;		/* the file of its request that took longest; 0: it has none */
	const char *comm;	/* of the other one: IO_COMM bytes */
	__u32 pid;
	__u64 other_path;	/* as @path, never 0 */
};

/*
 * Adds a request of a process on a disk. Both are numbered here: @owner and @disk are 0 for new ones, and
 * are set. Those beyond the limits of blame.h are not told apart, and find nothing.
 */
void finding_waits_add(struct finding_waits **waits, const struct io_event *e, __u32 *owner, __u32 *disk);

/* All requests were added. */
void finding_waits_finish(struct finding_waits *waits);

/* False if the process waited for nobody else. Kernel threads without a file of their own do not count. */
bool finding_waits_most(const struct finding_waits *waits, __u32 owner, struct finding_wait *to);

void finding_waits_free(struct finding_waits *waits);

#endif /* TOOL_TRACE_FINDING_WAIT_H */
