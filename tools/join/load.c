// SPDX-License-Identifier: GPL-2.0
/* Reads the requests and calls to be joined from both traces. */
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "join/join.h"
#include "record/store.h"
#include "trace/categories.h"
#include "trace/cpu_merge.h"
#include "trace/sources.h"

#define NS_PER_S 1000000000ULL
#define EAGAIN_RESULT (-11)	/* io_uring retries it as another call */

static void *grow(void *array, size_t nr, size_t *room, size_t size)
{
	if (nr < *room)
		return array;
	*room = *room ? 2 * *room : 1024;
	return xreallocarray(array, *room, size);
}

/* --- a category of a trace ------------------------------------------------------ */

int join_open_trace(struct join_trace *t)
{
	int status;

	t->path = store_find(t->named);
	if (!t->path)
		return CLI_FAILED;
	t->check.is_recorded = check_is_recorded(t->path);
	status = check_open(&t->check, t->path);
	if (status)
		return status;
	if (json_array_size(json_object_get(t->check.metadata.document, SOURCES_KEY))) {
		cli_say_of(t->named, "is a merged trace: join the traces that it was merged from");
		return CLI_FAILED;
	}
	check_state(&t->check);
	return check_names(&t->check, &t->names, NULL);
}

void join_close_trace(struct join_trace *t)
{
	paths_free(&t->names);
	check_close(&t->check);
	free(t->path);
}

/* The position of a category in metadata.json, or -1. */
static ssize_t position_of(const struct join_trace *t, const struct category *category)
{
	const char *name;
	size_t i;

	for (i = 0; (name = metadata_category(&t->check.metadata, i)); i++)
		if (!strcmp(name, category->name))
			return i;
	return -1;
}

static int read_category(struct join *j, struct join_trace *t, const struct category *category,
			 void (*take)(struct join *j, const void *record))
{
	ssize_t i = position_of(t, category);
	char *file = xasprintf("%s.iot", category->name);
	struct check_file checked;
	struct cpu_merge merge;
	const void *record;
	int status;

	status = cpu_merge_open(&merge, t->path, file, category_event(category));
	if (!status) {
		check_begin(&t->check, &checked, category->name, i, &merge);
		while ((record = cpu_merge_next(&merge)))
			take(j, record);
		check_end(&checked, &merge);
	}
	cpu_merge_close(&merge);
	free(file);
	return status;
}

/* --- requests of the guest ------------------------------------------------------- */

static const __u8 kinds[] = {
	[IOT_BLOCK_READ] = JOIN_READ, [IOT_BLOCK_WRITE] = JOIN_WRITE, [IOT_BLOCK_FLUSH] = JOIN_FLUSH,
	[IOT_BLOCK_DISCARD] = JOIN_DISCARD, [IOT_BLOCK_SECURE_ERASE] = JOIN_DISCARD,
	[IOT_BLOCK_WRITE_ZEROES] = JOIN_ZEROES,
};

/*
 * A request without data that requires a flush does not reach the device: the FLUSH that is made for
 * it does. If data is followed by a flush, it completes before the request does, so its end is
 * computed from the time in the device. If the driver gave the request back, that time includes
 * periods outside of the device.
 */
static void take_request(struct join *j, const void *record)
{
	struct join_request r = { .links = JOIN_NONE };
	struct iot_block b;

	memcpy(&b, record, sizeof(b));
	if (strncmp(b.disk, j->disk, sizeof(b.disk)) || b.op >= sizeof(kinds))
		return;
	if (!b.requested && kinds[b.op] != JOIN_FLUSH)
		return;
	r.time = wall_time(&j->guest.check.clock, b.time);
	r.queue = b.queue_latency < b.latency ? b.queue_latency : b.latency;
	r.latency = b.latency;
	r.begin = r.time + r.queue;
	r.end = r.time + r.latency;
	/* With a flush before the data, it is not known when the data was in the device. */
	if ((b.flags & (IOT_REQ_FLUSH_SEQ | IOT_REQ_PREFLUSH)) == IOT_REQ_FLUSH_SEQ &&
	    b.device_latency < r.latency - r.queue)
		r.end = r.begin + b.device_latency;
	r.sector = b.sector;
	r.size = b.requested;
	r.path = b.path;
	r.pid = b.pid;
	memcpy(r.comm, b.comm, sizeof(r.comm));
	r.op = b.op;
	r.kind = kinds[b.op];
	r.early = b.flags & IOT_REQ_EARLY;
	j->requests = grow(j->requests, j->nr_requests, &j->requests_room, sizeof(r));
	j->requests[j->nr_requests++] = r;
}

/* --- calls and requests of the host --------------------------------------------- */

static bool kind_of_call(__u16 op, __u8 *kind)
{
	switch (op) {
	case IOT_FS_READ:
	case IOT_FS_DIO_READ:
		*kind = CALL_READ;
		return true;
	case IOT_FS_WRITE:
	case IOT_FS_DIO_WRITE:
		*kind = CALL_WRITE;
		return true;
	case IOT_FS_FALLOCATE:
		*kind = CALL_ALLOCATE;
		return true;
	case IOT_FS_FSYNC:
	case IOT_FS_FDATASYNC:
		*kind = CALL_SYNC;
		return true;
	default:
		return false;
	}
}

/* The bytes moved, or the requested bytes if the call failed or continues after its return. */
static __u64 size_of_call(const struct iot_fs *fs, const struct join_call *c)
{
	if (c->kind == CALL_SYNC)
		return 0;
	if (c->kind == CALL_ALLOCATE || c->async || fs->result < 0)
		return fs->requested;
	return fs->result;
}

static void take_call(struct join *j, const void *record)
{
	const struct wall_clock *clock = &j->host.check.clock;
	struct join_call c = { .links = JOIN_NONE };
	struct iot_fs fs;

	memcpy(&fs, record, sizeof(fs));
	if (!kind_of_call(fs.op, &c.kind) || fs.result == EAGAIN_RESULT)
		return;
	c.file = join_image_file(&j->image, names_find(&j->host.names, fs.path), fs.inode, fs.device);
	if (c.file == JOIN_NONE)
		return;
	c.begin = wall_time(clock, fs.time);
	c.returned = c.begin + fs.latency;
	c.end = c.returned;
	c.async = c.kind != CALL_SYNC && c.kind != CALL_ALLOCATE && (fs.flags & IOT_IO_ASYNC);
	c.offset = fs.offset;
	c.size = size_of_call(&fs, &c);
	c.inode = fs.inode;
	c.device = fs.device;
	c.tid = fs.tid;
	j->calls = grow(j->calls, j->nr_calls, &j->calls_room, sizeof(c));
	j->calls[j->nr_calls++] = c;
}

static void take_below(struct join *j, const void *record)
{
	const struct wall_clock *clock = &j->host.check.clock;
	struct join_below below;
	struct iot_block b;

	memcpy(&b, record, sizeof(b));
	if (b.flags & IOT_REQ_EARLY)
		return;
	below.begin = wall_time(clock, b.time);
	below.end = below.begin + b.latency;
	below.offset = b.offset;
	below.size = b.requested;
	below.inode = b.inode;
	below.device = b.file_device;
	below.tid = b.tid;
	j->below = grow(j->below, j->nr_below, &j->below_room, sizeof(below));
	j->below[j->nr_below++] = below;
}

/* --- requests below a call ----------------------------------------------------------- */

#define LOOK_BACK 256	/* earlier requests into one of which the call's may be merged */

static bool has_bytes_of(const struct join_call *c, const struct join_below *b)
{
	if (!b->inode || b->inode != c->inode || b->device != c->device)
		return false;
	return c->kind == CALL_SYNC || (b->offset < c->offset + c->size && c->offset < b->offset + b->size);
}

/*
 * A request of the host is below a call if the call's thread submitted it during the call, or
 * another thread did so for bytes of the call. A bio of an asynchronous call may also be merged
 * into a request that was submitted before the call.
 */
bool join_is_below(const struct join_call *c, const struct join_below *b)
{
	if (b->begin > c->returned)
		return false;
	if (b->begin < c->begin)
		return c->async && b->end > c->returned && has_bytes_of(c, b);
	return b->tid == c->tid || has_bytes_of(c, b);
}

size_t join_first_below(const struct join *j, const struct join_call *c)
{
	size_t low = 0, high = j->nr_below;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (j->below[middle].begin < c->begin)
			low = middle + 1;
		else
			high = middle;
	}
	if (!c->async)
		return low;
	return low < LOOK_BACK ? 0 : low - LOOK_BACK;
}

/* An asynchronous call returns before its requests complete: it ends with the last of them. */
static void find_ends(struct join *j)
{
	size_t i, k;

	for (i = 0; i < j->nr_calls; i++) {
		struct join_call *c = &j->calls[i];

		if (!c->async)
			continue;
		for (k = join_first_below(j, c); k < j->nr_below && j->below[k].begin <= c->returned; k++)
			if (join_is_below(c, &j->below[k]) && j->below[k].end > c->end)
				c->end = j->below[k].end;
	}
}

/* --- all of it ---------------------------------------------------------------------- */

static int compare(__s64 a, __s64 b)
{
	return a < b ? -1 : a > b;
}

static int by_request(const void *a, const void *b)
{
	const struct join_request *x = a, *y = b;
	int order = compare(x->begin, y->begin);

	return order ? order : compare(x->sector, y->sector);
}

static int by_call(const void *a, const void *b)
{
	const struct join_call *x = a, *y = b;
	int order = compare(x->begin, y->begin);

	return order ? order : compare(x->offset, y->offset);
}

static int by_below(const void *a, const void *b)
{
	const struct join_below *x = a, *y = b;

	return compare(x->begin, y->begin);
}

static void sort(void *at, size_t nr, size_t size, int (*order)(const void *a, const void *b))
{
	if (nr)
		qsort(at, nr, size, order);
}

/* The disks of the guest's trace, for a message. */
struct disks {
	char *text;
};

static void add_disk(struct disks *disks, const struct iot_block *b)
{
	char *name = xasprintf("%.*s", (int)sizeof(b->disk), b->disk), *more;
	char *padded = xasprintf(", %s,", name), *all = xasprintf(", %s,", disks->text ? disks->text : "");

	if (!strstr(all, padded)) {
		more = disks->text ? xasprintf("%s, %s", disks->text, name) : xstrdup(name);
		free(disks->text);
		disks->text = more;
	}
	free(all);
	free(padded);
	free(name);
}

static int say_no_requests(struct join *j)
{
	struct disks disks = { 0 };
	struct cpu_merge merge;
	const void *record;
	struct iot_block b;
	int n = 0;

	if (!cpu_merge_open(&merge, j->guest.path, "block.iot", category_event(&category_block)))
		while (n++ < 100000 && (record = cpu_merge_next(&merge)))
			add_disk(&disks, memcpy(&b, record, sizeof(b)));
	cpu_merge_close(&merge);
	cli_say_of(j->guest.named, "has no requests of disk %s: it has those of %s", j->disk,
		   disks.text ? disks.text : "no disk");
	free(disks.text);
	return CLI_FAILED;
}

static int check_categories(struct join *j)
{
	if (position_of(&j->guest, &category_block) < 0) {
		cli_say_of(j->guest.named, "has no category block: record it in the guest with -c block");
		return CLI_FAILED;
	}
	if (position_of(&j->host, &category_fs) < 0) {
		cli_say_of(j->host.named, "has no category fs: record it on the host with --vm NAME -c fs,block");
		return CLI_FAILED;
	}
	j->has_below = position_of(&j->host, &category_block) >= 0;
	if (!j->has_below)
		cli_say_of(j->host.named, "has no category block, so the requests of the host are not shown");
	return CLI_OK;
}

static int check_calls(const struct join *j)
{
	if (j->nr_calls)
		return CLI_OK;
	cli_say_of(j->host.named, "has no read, write or sync of %s, which --disk names as the image of %s: is that right?",
		   j->image.files[0].shown, j->disk);
	return CLI_FAILED;
}

int join_load(struct join *j)
{
	const struct metadata *m = &j->host.check.metadata;
	int status = check_categories(j);

	if (!status)
		status = read_category(j, &j->guest, &category_block, take_request);
	if (!status && !j->nr_requests)
		status = say_no_requests(j);
	if (!status)
		status = read_category(j, &j->host, &category_fs, take_call);
	if (!status)
		status = check_calls(j);
	if (!status && j->has_below)
		status = read_category(j, &j->host, &category_block, take_below);
	if (status)
		return status;
	sort(j->requests, j->nr_requests, sizeof(*j->requests), by_request);
	sort(j->calls, j->nr_calls, sizeof(*j->calls), by_call);
	sort(j->below, j->nr_below, sizeof(*j->below), by_below);
	find_ends(j);
	j->host_begin = wall_time(&j->host.check.clock, m->begin.monotonic);
	j->host_end = m->end.monotonic ? wall_time(&j->host.check.clock, m->end.monotonic) : 0;
	return CLI_OK;
}
