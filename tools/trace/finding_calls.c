// SPDX-License-Identifier: GPL-2.0
/* Rules about the categories epoll and uring, by process: calls that each do little. */
#include <stdio.h>

#include "trace/finding.h"
#include "uapi/iotracer.h"

#define CALLS_LEAST	1000	/* calls: with 1 us each, a millisecond */
#define HALF		50	/* percent */
#define SPIN_RATE	100	/* calls a second: a timer that looks now and then stays below */
#define SINGLE		90	/* percent: then it makes no use of the ring */

struct process {
	struct finding_subject subject;
	struct finding_tally calls;
	struct finding_tally idle;	/* of these the rule's kind */
};

static struct process *process_of(struct finding_events *e, __u32 pid, const char *comm,
				  const struct measure *m)
{
	const struct { const void *source; __u64 pid; } key = { e->source, pid };

	return finding_find(e, 0, &key, sizeof(key), m, pid, comm);
}

/* --- epoll ---------------------------------------------------------------------- */

static void add_epoll(struct finding_events *e, const void *record, const struct measure *m)
{
	const struct iot_epoll *p = record;
	struct process *process;

	if (p->op != IOT_EPOLL_EPOLL_WAIT && p->op != IOT_EPOLL_POLL && p->op != IOT_EPOLL_SELECT)
		return;
	process = process_of(e, p->pid, p->comm, m);
	finding_count(&process->calls, m);
	if (!p->timeout && !p->result)
		finding_count(&process->idle, m);
}

static bool poll_spin(const void *subject, const struct finding_context *c, struct finding_row *row)
{
	const struct process *p = subject;
	__u64 lived = p->subject.last - p->subject.first;
	double rate = lived ? (double)p->idle.count * FINDING_S / lived : 0;

	(void)c;
	snprintf(row->note, sizeof(row->note), "%.1f a second", rate);
	return finding_is_most(row, &p->idle, p->calls.count, CALLS_LEAST, HALF) && rate >= SPIN_RATE;
}

static const struct finding_rule epoll_rules[] = {
	{ "poll-spin", 0, FINDING_WARNING, "process", "calls of epoll, poll or select",
	  "had timeout 0, and found nothing",
	  "Let the call wait (timeout -1, or until the next timer), instead of asking in a loop.",
	  .look = poll_spin },
};

const struct finding_watch finding_epoll = {
	.category = "epoll", .sizes = { sizeof(struct process) },
	.add = add_epoll, .rules = epoll_rules,
	.nr_rules = sizeof(epoll_rules) / sizeof(epoll_rules[0]),
};

/* --- uring ---------------------------------------------------------------------- */

static void add_uring(struct finding_events *e, const void *record, const struct measure *m)
{
	const struct iot_uring *u = record;
	struct process *process;

	if (u->op != IOT_URING_ENTER || !u->to_submit || m->error)
		return;
	process = process_of(e, u->pid, u->comm, m);
	finding_count(&process->calls, m);
	if (u->to_submit == 1 && u->min_complete)
		finding_count(&process->idle, m);
}

static bool uring_single(const void *subject, const struct finding_context *c,
			 struct finding_row *row)
{
	const struct process *p = subject;

	(void)c;
	return finding_is_most(row, &p->idle, p->calls.count, CALLS_LEAST, SINGLE);
}

static const struct finding_rule uring_rules[] = {
	{ "uring-single", 0, FINDING_NOTICE, "process", "calls of io_uring_enter(2)",
	  "submitted one request, and waited for a completion",
	  "That costs as much as read(2) and write(2). Submit several requests with one call.",
	  .look = uring_single },
};

const struct finding_watch finding_uring = {
	.category = "uring", .sizes = { sizeof(struct process) },
	.add = add_uring, .rules = uring_rules,
	.nr_rules = sizeof(uring_rules) / sizeof(uring_rules[0]),
};
