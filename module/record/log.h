/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A log: the records of a file, a device, a scope or a category, with their counts, T0, and the
 * position of the pipes. Who shows it is above (proc/log_files.h).
 */
#ifndef IOT_LOG_H
#define IOT_LOG_H

#include <linux/mutex.h>
#include <linux/types.h>
#include "core/life.h"
#include "record/rings.h"

struct iot_log_shown;
struct iot_schema_event;
struct iot_why;

/**
 * struct iot_pipe_position - how far the pipes of a log have read the records of one ring
 * @next:	sequence number of the next record to show
 * @gap:	records before @next that are gone, and that no pipe has reported yet
 */
struct iot_pipe_position {
	u64 next;
	u64 gap;
};

/**
 * struct iot_log - a log
 * @rings:	under RCU: a change of size may replace them. NULL before iot_log_make()
 * @single:	where the writers of the only ring find it; NULL if there is one for each CPU
 * @of:		what is the same for all its rings, of any size
 * @event:	descriptor of its records
 * @shown:	how it is shown, set before its files are made
 * @lock:	protects @rings and what follows; the owner may protect more with it. Held while
 *		rings are emptied, but not while the kernel patches its text
 * @keep:	records that each ring keeps
 * @t0:		when the log was made or last got a new T0, CLOCK_MONOTONIC ns
 * @discard:	a full ring keeps its records and loses new ones
 * @life:	whether it has ended: changed under @lock and all other locks of its owner
 * @pipe_lock:	protects @pipes and @position; taken outside @lock
 * @pipes:	number of open pipes
 * @position:	of the pipes, by ring
 * @only:	@position, if there is one ring
 */
struct iot_log {
	struct iot_rings __rcu *rings;
	struct iot_ring __rcu **single;
	const struct iot_rings_of *of;
	const struct iot_schema_event *event;
	const struct iot_log_shown *shown;
	struct mutex lock;	/* protects what follows, and rings */
	u64 keep;
	u64 t0;
	bool discard;
	struct iot_life life;
	struct mutex pipe_lock;	/* protects what follows */
	unsigned int pipes;
	struct iot_pipe_position *position;
	struct iot_pipe_position only;
};

int iot_log_init(struct iot_log *log, const struct iot_rings_of *of, u32 event,
		 struct iot_ring __rcu **single, u64 keep);
void iot_log_free(struct iot_log *log);
void iot_log_end(struct iot_log *log);

int iot_log_make(struct iot_log *log, struct iot_why *why);
int iot_log_resize(struct iot_log *log, u64 keep, struct iot_why *why);
void iot_log_reset(struct iot_log *log, bool new_t0);
void iot_log_add_cpu(struct iot_log *log, int cpu);

struct iot_rings *iot_log_rings(struct iot_log *log);

/**
 * struct iot_log_stats - counts since the log was made or the last reset
 * @rings:	counts of the rings; before iot_log_make() only @rings.cpus, the CPUs that will have
 *		one
 * @keep:	records that each ring keeps
 * @t0:		T0, CLOCK_MONOTONIC ns
 * @bytes:	bytes that the rings take
 * @start_bytes: bytes that rings of this size take: those to come if there are none yet
 */
struct iot_log_stats {
	struct iot_rings_stats rings;
	u64 keep;
	u64 t0;
	size_t bytes;
	size_t start_bytes;
};

void iot_log_stats(struct iot_log *log, struct iot_log_stats *stats);

#endif /* IOT_LOG_H */
