// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "trace/sources.h"
#include "trace/waits.h"

#define SMALL_LEAST	1000	/* calls */
#define OWNERS		(BLAME_OTHERS - WAITS)	/* processes that are told apart */

/* --- calls ---------------------------------------------------------------------- */

struct key {
	const struct source *source;
	__u64 inode, path;
	__u32 device, pid;
	__u64 kind;
};

struct subject {
	struct finding_subject subject;
	struct key key;
	struct finding_tally calls;
};

static const struct finding_watch watch = { .category = "fs", .sizes = { sizeof(struct subject) } };

static enum waits_kind kind_of(unsigned int op)
{
	switch (op) {
	case IOT_FS_READ:
	case IOT_FS_DIO_READ:
	case IOT_FS_SENDFILE:
		return WAITS_READ;
	case IOT_FS_WRITE:
	case IOT_FS_DIO_WRITE:
		return WAITS_WRITE;
	case IOT_FS_FSYNC:
	case IOT_FS_FDATASYNC:
	case IOT_FS_MSYNC:
	case IOT_FS_SYNC_FILE_RANGE:
		return WAITS_SYNC;
	default:
		return WAITS_OTHER;
	}
}

/* A lock is waited for as long as its owner has it, and a process for as long as it lives. */
static bool is_wait(const struct iot_fs *fs)
{
	return fs->op < IOT_FS_BLOCK_READ && fs->op != IOT_FS_LOCK && fs->op != IOT_FS_PROCESS_EXIT &&
	       fs->op != IOT_FS_PROCESS_EXEC && (fs->kind == IOT_KIND_FILE || fs->kind == IOT_KIND_DIR) &&
	       (fs->inode || fs->path);
}

void waits_add(struct waits *w, const struct iot_fs *fs, const struct measure *m, const struct source *source)
{
	struct key key = {
		.source = source, .inode = fs->inode, .path = fs->inode ? 0 : fs->path, .device = fs->device,
		.pid = fs->pid, .kind = kind_of(fs->op),
	};
	struct subject *s;

	if (!is_wait(fs))
		return;
	w->events.watch = &watch;
	w->events.tables[0].size = watch.sizes[0];
	s = finding_find(&w->events, 0, &key, sizeof(key), m, fs->pid, fs->comm);
	s->key = key;
	if (fs->path)
		s->subject.path = fs->path;
	finding_count(&s->calls, m);
}

/* --- rows ----------------------------------------------------------------------- */

static bool is_row(const struct subject *s, __u64 duration)
{
	return s->calls.time >= WAITS_LEAST && duration &&
	       finding_share(s->calls.time, duration, WAITS_PERCENT);
}

/* "postgres (412)", in a merged trace "postgres (412) of db1" */
static char *process_of(const char *comm, __u32 pid, const struct source *source)
{
	char *shown = text_show(comm, strnlen(comm, IO_COMM));
	char *process = xasprintf("%s (%u)%s%s", shown, pid, source ? " of " : "", source ? source->host : "");

	free(shown);
	return process;
}

static void make_row(struct waits *w, struct waits_row *row, const struct subject *s, __u64 duration)
{
	const struct name *name = s->subject.path ? names_find(w->names, s->subject.path) : NULL;

	*row = (struct waits_row){
		.source = s->key.source, .inode = s->key.inode, .path = s->key.path, .device = s->key.device, .pid = s->key.pid,
		.kind = s->key.kind, .calls = s->calls, .duration = duration,
		.process = process_of(s->subject.comm, s->key.pid, s->key.source),
		.file = name ? xstrdup(name->text) :
			xasprintf("a file without a name, inode %llu", (unsigned long long)s->key.inode),
	};
}

static __u64 time_of(const struct finding_table *t, size_t i)
{
	const struct subject *s = finding_at(t, i);

	return s->calls.time;
}

void waits_choose(struct waits *w, __u64 duration)
{
	const struct finding_table *t = &w->events.tables[0];
	size_t best[WAITS], i, at;

	for (i = 0; i < t->nr; i++) {
		const struct subject *s = finding_at(t, i);

		if (!is_row(s, duration))
			continue;
		for (at = w->nr; at && time_of(t, best[at - 1]) < s->calls.time; at--)
			if (at < WAITS)
				best[at] = best[at - 1];
		if (at < WAITS)
			best[at] = i;
		w->nr += w->nr < WAITS;
	}
	for (i = 0; i < w->nr; i++)
		make_row(w, &w->rows[i], finding_at(t, best[i]), duration);
	finding_table_free(&w->events.tables[0]);
	w->events.tables[0] = (struct finding_table){ .nr = 0 };
}

/* --- requests ------------------------------------------------------------------- */

/* The number of a key, which is at most @room: those beyond share it. */
static unsigned int number_of(struct intern *t, const void *key, size_t length, unsigned int room)
{
	__u32 number = intern_find(t, key, length);

	if (number != INTERN_NONE)
		return number;
	return t->nr < room ? intern_add(t, key, length) : room;
}

struct owner_key {
	const struct source *source;
	__u64 pid;
};

/* Bytes that a request moved, as all figures have them. */
static __u64 moved(const struct io_event *r)
{
	return r->result > 0 ? r->result : 0;
}

/* The process, as an owner behind those that are rows. */
static unsigned int owner_of(struct waits *w, const struct io_event *r)
{
	const struct owner_key key = { r->source, io_event_owner(r) };
	unsigned int number = number_of(&w->owners, &key, sizeof(key), OWNERS);
	struct waits_owner *owner;

	if (!w->owned) {
		w->owned = xreallocarray(NULL, OWNERS + 1, sizeof(*w->owned));
		memset(w->owned, 0, (OWNERS + 1) * sizeof(*w->owned));
	}
	owner = &w->owned[number];
	owner->pid = key.pid;
	memcpy(owner->comm, io_event_owner_comm(r), IO_COMM);
	owner->requests++;
	if (r->op == IOT_BLOCK_READ)
		owner->read += moved(r);
	else if (r->op == IOT_BLOCK_WRITE)
		owner->written += moved(r);
	return WAITS + number;
}

static void count_request(struct waits *w, size_t row, const struct io_event *r)
{
	struct waits_row *of = &w->rows[row];
	struct finding_tally *tallies[] = { &of->requests, r->op == IOT_BLOCK_FLUSH ? &of->flushes : NULL };
	size_t i;

	for (i = 0; i < 2 && tallies[i]; i++) {
		tallies[i]->count++;
		tallies[i]->bytes += moved(r);
		tallies[i]->time += io_event_latency(r);
	}
	if (!of->disk) {
		of->disk = text_show(r->disk, strnlen(r->disk, IO_DISK));
		memcpy(w->seen[row], r->disk, IO_DISK);
	} else if (memcmp(w->seen[row], r->disk, IO_DISK)) {
		free(of->disk);
		of->disk = xstrdup("disks");
	}
}

/* Divides a request that no call can come for any more. */
static void divide(struct waits *w, const struct waits_request *from)
{
	const struct io_event *r = &from->event;
	struct { const void *source; char name[IO_DISK]; } disk = { .source = r->source };
	struct blame_request b = { .begin = r->begin, .issued = io_event_issued(r), .end = r->end };
	unsigned int number;

	memcpy(disk.name, r->disk, IO_DISK);
	number = number_of(&w->disks, &disk, sizeof(disk), BLAME_DISKS);
	if (r->flags & IOT_REQ_EARLY || number == BLAME_DISKS)
		return;
	b.disk = number;
	b.owner = owner_of(w, r);
	if (from->row < w->nr) {
		b.victim = true;
		b.owner = from->row;
		count_request(w, from->row, r);
	}
	blame_add(&w->blame, &b);
}

void waits_request(struct waits *w, const struct io_event *r)
{
	struct waits_request *at;

	if (!w->window)
		w->window = xreallocarray(NULL, WAITS_WINDOW, sizeof(*w->window));
	at = &w->window[w->requests++ % WAITS_WINDOW];
	if (w->requests > WAITS_WINDOW)
		divide(w, at);
	*at = (struct waits_request){ .event = *r, .row = WAITS };
}

/* The row of a call, or w->nr. */
static size_t row_of(const struct waits *w, const struct io_event *call)
{
	enum waits_kind kind = kind_of(call->op);
	size_t i;

	for (i = 0; i < w->nr; i++) {
		const struct waits_row *row = &w->rows[i];

		if (row->kind == kind && row->pid == call->pid && row->source == call->source &&
		    row->inode == call->inode && row->device == call->device &&
		    (row->inode || row->path == call->path))
			break;
	}
	return i;
}

void waits_call(struct waits *w, const struct io_event *call)
{
	size_t row = row_of(w, call);
	__u64 i, least = w->requests > WAITS_WINDOW ? w->requests - WAITS_WINDOW : 0;

	if (row == w->nr)
		return;
	for (i = w->requests; i > least && w->steps < WAITS_STEPS; i--, w->steps++) {
		struct waits_request *at = &w->window[(i - 1) % WAITS_WINDOW];

		if (at->event.end < call->begin)
			break;
		if (at->row == WAITS && io_event_relate(call, &at->event) != IO_UNRELATED)
			at->row = row;
	}
}

/* The end of the requests: those that are left are divided, too. */
static void divide_rest(struct waits *w)
{
	__u64 i = w->requests > WAITS_WINDOW ? w->requests - WAITS_WINDOW : 0;

	for (; i < w->requests; i++)
		divide(w, &w->window[i % WAITS_WINDOW]);
}

/* --- reasons -------------------------------------------------------------------- */

/* The other process to which most of a row's wait is charged. */
static void find_culprit(const struct waits *w, struct waits_row *row)
{
	unsigned int i;

	for (i = 0; i < w->owners.nr; i++) {
		const struct waits_owner *owner = &w->owned[i];
		__u64 charged = blame_charged(&w->blame, row - w->rows, WAITS + i);
		struct owner_key key;
		size_t length;

		memcpy(&key, intern_bytes(&w->owners, i, &length), sizeof(key));
		if (charged <= row->charged.time || (owner->pid == row->pid && key.source == row->source))
			continue;
		row->charged = (struct finding_tally){ .count = owner->requests, .time = charged };
		row->writes = owner->written >= owner->read;
		row->charged.bytes = row->writes ? owner->written : owner->read;
		free(row->culprit);
		row->culprit = process_of(owner->comm, owner->pid, key.source);
	}
}

static bool is_most(__u64 part, __u64 all)
{
	return all && finding_share(part, all, WAITS_MOST);
}

static enum waits_reason reason_of(const struct waits *w, const struct waits_row *row)
{
	bool small = row->calls.count >= SMALL_LEAST && row->calls.bytes / row->calls.count < FINDING_PAGE;

	if (!is_most(row->requests.time, row->calls.time)) {
		if (small && (row->kind == WAITS_READ || row->kind == WAITS_WRITE))
			return WAITS_SMALL;
		return w->has_requests && !w->sampled ? WAITS_ELSEWHERE : WAITS_UNKNOWN;
	}
	if (w->sampled)
		return WAITS_UNKNOWN;
	if (row->culprit && is_most(row->charged.time, row->requests.time))
		return WAITS_NEIGHBOUR;
	return is_most(row->flushes.time, row->requests.time) ? WAITS_FLUSH : WAITS_DEVICE;
}

void waits_finish(struct waits *w)
{
	size_t i;

	divide_rest(w);
	if (w->owned)
		blame_finish(&w->blame);
	for (i = 0; i < w->nr; i++) {
		struct waits_row *row = &w->rows[i];

		if (w->owned)
			find_culprit(w, row);
		row->reason = reason_of(w, row);
		if (row->reason == WAITS_NEIGHBOUR)
			continue;
		free(row->culprit);
		row->culprit = NULL;
		row->charged = (struct finding_tally){ 0 };
	}
}

void waits_free(struct waits *w)
{
	size_t i;

	for (i = 0; i < w->nr; i++) {
		free(w->rows[i].process);
		free(w->rows[i].file);
		free(w->rows[i].disk);
		free(w->rows[i].culprit);
	}
	finding_table_free(&w->events.tables[0]);
	blame_free(&w->blame);
	intern_free(&w->owners);
	intern_free(&w->disks);
	free(w->owned);
	free(w->window);
}
