/* SPDX-License-Identifier: GPL-2.0 */
/* The thread that last wrote to a target, for its writeback. */
#ifndef IOT_WRITER_H
#define IOT_WRITER_H

#include <linux/sched.h>
#include <linux/string.h>
#include <linux/types.h>
#include "core/tryseq.h"

/**
 * struct iot_writer - the thread that last wrote to a file
 * @seq:	see core/tryseq.h
 * @pid:	id of its process, in the initial pid namespace
 * @comm:	name of the thread
 */
struct iot_writer {
	u32 seq;
	u32 pid;
	u64 comm[2];
};

static_assert(sizeof_field(struct iot_writer, comm) == TASK_COMM_LEN);

void iot_writer_note_new(struct iot_writer *w);

/**
 * iot_writer_note() - note that the current thread has written. Context: task
 *
 * The comparison does not use the sequence count: a thread that is being replaced may still find
 * itself noted, as if it had come a moment earlier.
 */
static __always_inline void iot_writer_note(struct iot_writer *w)
{
	const u64 *comm = (const u64 *)current->comm;

	if (unlikely(READ_ONCE(w->pid) != current->tgid ||
		     READ_ONCE(w->comm[0]) != comm[0] || READ_ONCE(w->comm[1]) != comm[1]))
		iot_writer_note_new(w);
}

/**
 * iot_writer_read() - get the process and the thread name of the last writer
 *
 * Context: any. Return: the process id, or 0 with an empty name if there is none or it is being
 * changed.
 */
static __always_inline u32 iot_writer_read(const struct iot_writer *w, char name[TASK_COMM_LEN])
{
	u32 seq = iot_tryseq_read(&w->seq);
	u64 comm[2] = { READ_ONCE(w->comm[0]), READ_ONCE(w->comm[1]) };
	u32 pid = READ_ONCE(w->pid);

	if (!iot_tryseq_is_whole(&w->seq, seq)) {
		pid = 0;
		memset(comm, 0, sizeof(comm));
	}
	memcpy(name, comm, sizeof(comm));
	return pid;
}

#endif /* IOT_WRITER_H */
