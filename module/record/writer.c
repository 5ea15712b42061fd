// SPDX-License-Identifier: GPL-2.0
/* The thread that last wrote to a target. */
#include "record/writer.h"

/** iot_writer_note_new() - note another thread; give up if one is being noted on another CPU */
noinline void iot_writer_note_new(struct iot_writer *w)
{
	u64 comm[2];

	if (!iot_tryseq_begin(&w->seq))
		return;
	memcpy(comm, current->comm, sizeof(comm));
	WRITE_ONCE(w->pid, current->tgid);
	WRITE_ONCE(w->comm[0], comm[0]);
	WRITE_ONCE(w->comm[1], comm[1]);
	iot_tryseq_end(&w->seq);
}
