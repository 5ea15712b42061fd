// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "trace/io_event.h"
#include "uapi/iotracer.h"

const char *const io_relation_names[IO_RELATIONS] = { "none", "own", "data", "sync" };

bool io_event_kind(const struct category *category, enum io_kind *kind)
{
	switch (category->event_id) {
	case IOT_EVENT_ID_FS:
		*kind = IO_CALL;
		return true;
	case IOT_EVENT_ID_FAULT:
		*kind = IO_FAULT;
		return true;
	case IOT_EVENT_ID_BLOCK:
		*kind = IO_REQUEST;
		return true;
	default:
		return false;
	}
}

static __u64 lesser(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

/* What the records of all three have. */
#define READ_COMMON(e, r) do {							\
	(e)->seq = (r).seq;							\
	(e)->begin = (r).time;							\
	(e)->end = (r).time + lesser((r).latency, ~(r).time);					\
	(e)->offset = (r).offset;						\
	(e)->path = (r).path;							\
	(e)->inode = (r).inode;							\
	(e)->cgroup = (r).cgroup;						\
	(e)->pid = (r).pid;							\
	(e)->tid = (r).tid;							\
	(e)->flags = (r).flags;							\
	(e)->result = (r).result;						\
	(e)->op = (r).op;							\
	memcpy((e)->comm, (r).comm, IO_COMM);					\
} while (0)

static void read_call(struct io_event *e, const void *record)
{
	struct iot_fs r;

	memcpy(&r, record, sizeof(r));
	READ_COMMON(e, r);
	e->size = r.requested;
	e->device = r.device;
}

static void read_fault(struct io_event *e, const void *record)
{
	struct iot_fault r;

	memcpy(&r, record, sizeof(r));
	READ_COMMON(e, r);
	e->offset -= e->offset % IO_PAGE;
	e->size = IO_PAGE;
	e->device = r.device;
}

static void read_request(struct io_event *e, const void *record)
{
	struct iot_block r;

	memcpy(&r, record, sizeof(r));
	READ_COMMON(e, r);
	e->size = r.requested;
	e->device = r.file_device;
	e->queue = lesser(r.queue_latency, e->end - e->begin);
	e->in_device = lesser(r.device_latency, e->end - e->begin - e->queue);
	e->disk_device = r.device;
	e->origin_pid = r.origin_pid;
	e->class = r.class;
	memcpy(e->origin_comm, r.origin_comm, IO_COMM);
	memcpy(e->disk, r.disk, IO_DISK);
}

void io_event_read(struct io_event *e, const struct category *category, unsigned int cpu,
		   const struct source *source, const void *record)
{
	static void (*const readers[IO_KINDS])(struct io_event *e, const void *record) = {
		[IO_CALL] = read_call, [IO_FAULT] = read_fault, [IO_REQUEST] = read_request,
	};

	*e = (struct io_event){ .category = category, .cpu = cpu, .source = source };
	io_event_kind(category, &e->kind);
	readers[e->kind](e, record);
}

bool io_ranges_meet(__u64 offset, __u64 size, __u64 other, __u64 other_size)
{
	return size && other_size && offset < io_range_end(other, other_size) &&
	       other < io_range_end(offset, size);
}

bool io_event_same_file(const struct io_event *a, const struct io_event *b)
{
	return a->inode && a->inode == b->inode && a->device == b->device && a->source == b->source;
}

bool io_op_only_looks(unsigned int op)
{
	switch (op) {
	case IOT_FS_CLOSE:
	case IOT_FS_RELEASE:
	case IOT_FS_FLUSH:
	case IOT_FS_MADVISE:
	case IOT_FS_FADVISE:
	case IOT_FS_GETATTR:
	case IOT_FS_ACCESS:
	case IOT_FS_READDIR:
	case IOT_FS_READLINK:
	case IOT_FS_STATFS:
	case IOT_FS_GETXATTR:
	case IOT_FS_LISTXATTR:
	case IOT_FS_LOCK:
		return true;
	default:
		return false;
	}
}

/* --- relations ------------------------------------------------------------------ */

/* What data a call needs, or puts on the disk, beside that of its own requests. */
enum reach { REACH_NONE, REACH_READ, REACH_RANGE, REACH_FILE, REACH_FILESYSTEM, REACH_ALL };

static enum reach reach_of(const struct io_event *call)
{
	if (call->kind == IO_FAULT)
		return REACH_READ;
	switch (call->op) {
	case IOT_FS_READ:
	case IOT_FS_SENDFILE:
	case IOT_FS_SPLICE:
	case IOT_FS_COPY_FILE_RANGE:
		return REACH_READ;
	case IOT_FS_WRITE:
	case IOT_FS_DIO_WRITE:
		return call->flags & IOT_IO_SYNC ? REACH_RANGE : REACH_NONE;
	case IOT_FS_FSYNC:
	case IOT_FS_FDATASYNC:
	case IOT_FS_MSYNC:
	case IOT_FS_SYNC_FILE_RANGE:
		return REACH_FILE;
	case IOT_FS_SYNCFS:
		return REACH_FILESYSTEM;
	case IOT_FS_SYNC:
		return REACH_ALL;
	default:
		return REACH_NONE;
	}
}

static bool is_write(const struct io_event *request)
{
	return request->op == IOT_BLOCK_WRITE || request->op == IOT_BLOCK_ZONE_APPEND;
}

static bool is_data(const struct io_event *call, const struct io_event *request, enum reach reach)
{
	bool same = io_event_same_file(call, request);
	bool meet = io_ranges_meet(call->offset, call->size, request->offset, request->size);

	if (reach == REACH_READ)
		return request->op == IOT_BLOCK_READ && same && meet;
	if (!is_write(request) || !request->inode)
		return false;
	switch (reach) {
	case REACH_RANGE:
		return same && meet && call->op == IOT_FS_WRITE;
	case REACH_FILE:
		return same;
	case REACH_FILESYSTEM:
		return call->device == request->device;
	default:
		return reach == REACH_ALL;
	}
}

static bool is_sync(const struct io_event *call, const struct io_event *request, enum reach reach)
{
	if (request->op != IOT_BLOCK_FLUSH && request->class != IOT_CLASS_JOURNAL)
		return false;
	return reach == REACH_ALL || (reach >= REACH_RANGE && call->device == request->disk_device);
}

enum io_relation io_event_relate(const struct io_event *call, const struct io_event *request)
{
	enum reach reach;

	if (request->flags & IOT_REQ_EARLY || request->source != call->source ||
	    request->end < call->begin || request->end > call->end)
		return IO_UNRELATED;
	if (request->tid == call->tid && request->begin >= call->begin)
		return IO_OWN;
	reach = reach_of(call);
	if (reach == REACH_NONE)
		return IO_UNRELATED;
	if (is_data(call, request, reach))
		return IO_DATA;
	return is_sync(call, request, reach) ? IO_SYNC : IO_UNRELATED;
}
