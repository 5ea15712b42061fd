// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/blame.h"
#include "trace/finding_wait.h"

struct owner {
	__u32 pid;
	char comm[IO_COMM];
	__u64 bytes;
	__u64 path, longest;	/* of its request that took longest, of those of a file; ns */
};

struct finding_waits {
	struct blame blame;
	struct owner owners[BLAME_OWNERS];	/* by number; the last one is of all that are not told apart */
	__u32 nr_owners, nr_disks;
};

static void number(__u32 *of, __u32 *nr, __u32 most)
{
	if (!*of && *nr < most)
		*of = ++*nr;
}

void finding_waits_add(struct finding_waits **waits, const struct io_event *e, __u32 *owner, __u32 *disk)
{
	struct blame_request r = { .begin = e->begin, .issued = io_event_issued(e), .end = e->end, .victim = true };
	struct finding_waits *w = *waits;
	struct owner *o;

	if (!w) {
		w = *waits = xreallocarray(NULL, 1, sizeof(*w));
		memset(w, 0, sizeof(*w));
	}
	number(owner, &w->nr_owners, BLAME_OTHERS);
	number(disk, &w->nr_disks, BLAME_DISKS);
	if (!*disk)
		return;
	r.disk = *disk - 1;
	r.owner = *owner ? *owner - 1 : BLAME_OTHERS;
	o = &w->owners[r.owner];
	if (*owner && !o->pid) {
		o->pid = io_event_owner(e);
		memcpy(o->comm, io_event_owner_comm(e), IO_COMM);
	}
	o->bytes += e->size;
	if (*owner && e->path && (!o->path || io_event_latency(e) > o->longest)) {
		o->path = e->path;
		o->longest = io_event_latency(e);
	}
	blame_add(&w->blame, &r);
}

void finding_waits_finish(struct finding_waits *waits)
{
	if (waits)
		blame_finish(&waits->blame);
}

bool finding_waits_most(const struct finding_waits *waits, __u32 owner, struct finding_wait *to)
{
	const struct blame_victim *v = waits && owner ? &waits->blame.victims[owner - 1] : NULL;
	__u32 i, most = BLAME_OTHERS;

	if (!v)
		return false;
	for (i = 0; i < waits->nr_owners; i++)
		if (i != owner - 1 && waits->owners[i].path &&
		    blame_charged(&waits->blame, owner - 1, i) > blame_charged(&waits->blame, owner - 1, most))
			most = i;
	*to = (struct finding_wait){
		.requests = v->requests, .wait = v->wait, .bytes = waits->owners[owner - 1].bytes,
		.behind = blame_charged(&waits->blame, owner - 1, most), .path = waits->owners[owner - 1].path,
		.comm = waits->owners[most].comm, .pid = waits->owners[most].pid,
		.other_path = waits->owners[most].path,
	};
	return to->other_path;
}

void finding_waits_free(struct finding_waits *waits)
{
	if (waits)
		blame_free(&waits->blame);
	free(waits);
}
