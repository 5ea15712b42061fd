// SPDX-License-Identifier: GPL-2.0
/* The comparisons of a receipt, for metadata.json. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/xalloc.h"
#include "machine/host.h"
#include "record/receipt.h"
#include "record/receipt_parts.h"

/* --- comparisons ---------------------------------------------------------------- */

static bool has_device(const struct receipt_filter *f, __u32 device)
{
	char *text = xasprintf("%u:%u", device >> 20, device & 0xfffff);
	bool has = receipt_has_word(f->devices, text);

	free(text);
	return has;
}

/* The comparisons that are made and not made, and the part that is compared now. */
struct table {
	const struct receipt_part *part;
	json_t *compared, *without;
	const struct receipt *r;
};

struct comparison {
	const char *what;	/* "requests read" */
	const char *of;		/* "vda", or "" */
	__u32 device;		/* its device number, or 0 */
	const char *source;	/* "/proc/diskstats" */
	__u64 trace, edge;	/* inside the edges, and at the edges */
	__u64 kernel;
	__u64 own;		/* of this process, whose I/O is not in the trace */
	bool part;		/* the trace has only part of the kernel's events */
	bool may_be_lost;	/* another category that is summed has lost events */
};

static const char *verdict(const struct table *t, const struct comparison *c)
{
	bool lossy = t->part->lost || t->part->missed || c->may_be_lost;

	if (c->kernel >= c->trace && c->kernel <= c->trace + c->edge)
		return "equal";
	if (c->kernel < c->trace)
		return "differs";
	if (c->part)
		return "part";
	if (c->kernel <= c->trace + c->edge + c->own)
		return "own";
	return lossy ? "lossy" : "differs";
}

static void compare(struct table *t, struct comparison c)
{
	json_t *object = json_object();

	json_put(object, "category", json_string(t->part->category->name));
	json_put(object, "what", json_string(c.what));
	json_put(object, "of", json_shown(c.of));
	json_put(object, "device", c.device ? json_integer(c.device) : json_null());
	json_put(object, "trace", json_integer(c.trace));
	json_put(object, "edge", json_integer(c.edge));
	json_put(object, "kernel", json_integer(c.kernel));
	json_put(object, "source", json_string(c.source));
	json_put(object, "verdict", json_string(verdict(t, &c)));
	json_add(t->compared, object);
}

static void leave_out(struct table *t, const char *source, const char *reason)
{
	json_t *object = json_object();

	json_put(object, "category", json_string(t->part->category->name));
	json_put(object, "source", json_string(source));
	json_put(object, "reason", json_shown(reason));
	json_add(t->without, object);
}

/* Why the records lack events that the kernel counts; NULL if they have all. Allocated. */
static char *why_not(const struct receipt *r, const struct receipt_filter *f, bool devices,
		     bool operations)
{
	const char *key = f->other;

	if (r->sampled)
		return xstrdup("only one event in N is recorded (sample)");
	if (!key && f->tree && !r->of_command)
		key = "tree";
	if (!key && f->cgroup)
		key = "cgroup";
	if (!key && f->rejected)
		return xstrdup("rejected=1 adds calls that the kernel does not count");
	if (!key && f->devices && !devices)
		key = "dev";
	if (!key && f->operations && !operations)
		key = "op";
	return key ? xasprintf("the filter %s= leaves events out", key) : NULL;
}

/* --- the whole system ----------------------------------------------------------- */

/* Whether all operations of a direction pass the filter. WRITE has several. */
static bool has_direction(const struct receipt_filter *f, enum sums_direction direction)
{
	static const char *const operations[SUMS_DIRECTIONS] = { "READ", NULL, "DISCARD", "FLUSH" };

	return !f->operations || (operations[direction] && receipt_has_word(f->operations, operations[direction]));
}

static __u64 own_bytes(const struct receipt *r, enum sums_direction direction)
{
	return direction > SUMS_WRITE ? 0 : r->after.own.bytes[direction] - r->before.own.bytes[direction];
}

static void compare_direction(struct table *t, const struct kernel_disk *before,
			      const struct kernel_disk *after, bool disk, enum sums_direction d)
{
	struct sums_device sum = receipt_sum_devices(&t->part->sums, after->name, after->device, disk);
	struct sums_device edge = receipt_sum_devices(&t->part->edges, after->name, after->device, disk);
	struct comparison c = {
		.what = of_requests[d], .of = after->name, .device = after->device,
		.source = "/proc/diskstats",
		.trace = sum.requests[d], .edge = edge.requests[d],
		.kernel = after->requests[d] - before->requests[d],
		.own = own_bytes(t->r, d) / SECTOR, /* a request has at least one */
	};

	if (!c.trace && !c.edge && !c.kernel)
		return;
	compare(t, c);
	if (d == SUMS_FLUSH)
		return;
	c.what = of_sectors[d];
	c.trace = sum.bytes[d] / SECTOR;
	c.edge = edge.bytes[d] / SECTOR;
	c.kernel = after->sectors[d] - before->sectors[d];
	compare(t, c);
}

static void compare_device(struct table *t, const struct kernel_disk *after, bool disk)
{
	const struct kernel_disk *before = kernel_disk_find(&t->r->before, after->name);
	enum sums_direction d;

	if (!before)
		return; /* it was added meanwhile */
	for (d = 0; d < SUMS_DIRECTIONS; d++)
		if (has_direction(&t->part->filter, d) && (disk || d != SUMS_FLUSH))
			compare_direction(t, before, after, disk, d);
}

static bool is_disk(const struct kernel_disk *k)
{
	char *path = xasprintf("/sys/block/%s", k->name), *at;
	bool is;

	for (at = path + strlen("/sys/block/"); (at = strchr(at, '/')); )
		*at = '!';
	is = host_has(path);
	free(path);
	return is;
}

/* Whether a whole disk passes the filter: itself, and its partitions, which follow in the list. */
static bool is_whole(const struct receipt *r, const struct receipt_filter *f, size_t i)
{
	const struct kernel_disk *disk = &r->after.disks[i], *k = disk;

	if (!has_device(f, disk->device))
		return false;
	for (i++; i < r->after.nr_disks; i++) {
		k = &r->after.disks[i];
		if (strncmp(k->name, disk->name, strlen(disk->name)) || is_disk(k))
			break;
		if (!has_device(f, k->device))
			return false;
	}
	return true;
}

/* Lists disks with events in the trace that the kernel never counts: their accounting is off. */
static void tell_uncounted(struct table *t)
{
	const struct sums *s = &t->part->sums;
	const struct kernel_disk *k;
	size_t i, j;

	for (i = 0; i < s->nr_devices; i++) {
		for (j = 0; j < i && strcmp(s->devices[j].disk, s->devices[i].disk); j++)
			;
		k = kernel_disk_find(&t->r->after, s->devices[i].disk);
		if (j == i && (!k || !k->counted)) {
			char *reason = xasprintf("the kernel counts no I/O of %s", s->devices[i].disk);

			leave_out(t, "/proc/diskstats", reason);
			free(reason);
		}
	}
}

static void compare_disks(struct table *t)
{
	const struct receipt *r = t->r;
	char *reason = why_not(r, &t->part->filter, true, true);
	size_t before = json_array_size(t->compared), i;

	if (reason || !r->after.nr_disks) {
		leave_out(t, "/proc/diskstats", reason ? reason : "it cannot be read");
		free(reason);
		return;
	}
	for (i = 0; i < r->after.nr_disks; i++) {
		const struct kernel_disk *k = &r->after.disks[i];
		bool disk = is_disk(k);

		if (k->counted && (disk ? is_whole(r, &t->part->filter, i) :
					  t->part->filter.devices && has_device(&t->part->filter, k->device)))
			compare_device(t, k, disk);
	}
	tell_uncounted(t);
	if (t->part->filter.operations && json_array_size(t->compared) == before)
		leave_out(t, "/proc/diskstats", "the filter op= has none of READ, DISCARD and FLUSH");
}

static __u64 grown(const struct receipt *r, enum kernel_vm i)
{
	return r->after.vm[i] - r->before.vm[i];
}

static void compare_swap(struct table *t)
{
	const struct receipt *r = t->r;
	char *reason = why_not(r, &t->part->filter, false, false);
	size_t page = sysconf(_SC_PAGESIZE);
	enum sums_direction d;

	for (d = SUMS_READ; !reason && r->after.has_vm && d <= SUMS_WRITE; d++) {
		struct comparison c = {
			.what = of_swapped[d], .of = "", .source = "/proc/vmstat",
			.trace = t->part->sums.swapped[d] / page, .edge = t->part->edges.swapped[d] / page,
			.kernel = grown(r, d == SUMS_READ ? KERNEL_SWAPPED_IN : KERNEL_SWAPPED_OUT),
		};

		if (c.trace || c.edge || c.kernel)
			compare(t, c);
	}
	free(reason);
}

static __u64 group_bytes(const struct kernel_counts *k, __u32 device, enum sums_direction d)
{
	size_t i;

	for (i = 0; i < k->nr_groups; i++)
		if (k->groups[i].device == device)
			return k->groups[i].bytes[d];
	return 0;
}

/* The bytes of a control group's io.stat, which has a line for each disk. */
static void compare_group(struct table *t)
{
	const struct receipt *r = t->r;
	enum sums_direction d;
	size_t i;

	if (!r->after.has_group || !r->before.has_group) {
		leave_out(t, "io.stat", "the control group has none: the controller io is not enabled for it, or it is gone");
		return;
	}
	for (i = 0; i < r->after.nr_disks; i++) {
		const struct kernel_disk *k = &r->after.disks[i];
		struct sums_device sum = receipt_sum_devices(&t->part->sums, k->name, k->device, true);
		struct sums_device edge = receipt_sum_devices(&t->part->edges, k->name, k->device, true);

		for (d = SUMS_READ; d <= SUMS_DISCARD; d++) {
			struct comparison c = {
				.what = of_bytes[d], .of = k->name, .device = k->device,
				.source = "io.stat", .trace = sum.asked[d], .edge = edge.asked[d],
				.kernel = group_bytes(&r->after, k->device, d) -
					  group_bytes(&r->before, k->device, d),
			};

			if (c.trace || c.edge || c.kernel)
				compare(t, c);
		}
	}
}

static void compare_block(struct table *t)
{
	const struct receipt_filter *f = &t->part->filter;

	if (f->cgroup && !f->other && !f->tree && !f->devices && !f->operations && !t->r->sampled) {
		compare_group(t);
		return;
	}
	compare_disks(t);
	compare_swap(t);
}

static void compare_cache(struct table *t)
{
	const struct receipt *r = t->r;
	const struct receipt_filter *f = &t->part->filter;
	char *reason = why_not(r, f, false, true);
	const struct sums *s = &t->part->sums, *e = &t->part->edges;
	struct comparison c = {
		.of = "", .source = "/proc/vmstat", .part = !f->all_kinds,
		.own = own_bytes(r, SUMS_WRITE) / sysconf(_SC_PAGESIZE),
	};

	if (reason || !r->after.exact || !r->before.exact) {
		leave_out(t, "/proc/vmstat", reason ? reason : "it is not exact: only root may make the CPUs add up their counts (/proc/sys/vm/stat_refresh)");
		free(reason);
		return;
	}
	if (receipt_has_word(f->operations, "DIRTY")) {
		c.what = OF_DIRTIED;
		c.trace = s->pages[IOT_CACHE_DIRTY];
		c.edge = e->pages[IOT_CACHE_DIRTY];
		c.kernel = grown(r, KERNEL_DIRTIED);
		compare(t, c);
	}
	if (receipt_has_word(f->operations, "WRITEBACK_END")) {
		c.what = OF_WRITTEN;
		c.trace = s->pages[IOT_CACHE_WRITEBACK_END];
		c.edge = e->pages[IOT_CACHE_WRITEBACK_END];
		c.kernel = grown(r, KERNEL_WRITTEN);
		compare(t, c);
	}
}

static void compare_faults(struct table *t)
{
	const struct receipt *r = t->r;
	const struct receipt_filter *f = &t->part->filter;
	char *reason = why_not(r, f, false, false);
	const struct sums *s = &t->part->sums, *e = &t->part->edges;

	if (reason || !r->after.has_vm) {
		leave_out(t, "/proc/vmstat", reason ? reason : "it cannot be read");
		free(reason);
		return;
	}
	/* the kernel also counts faults on anonymous memory, and faults that have not ended yet */
	compare(t, (struct comparison){
		.what = OF_FAULTS, .of = "", .source = "/proc/vmstat", .part = true,
		.trace = s->faults[0] + s->faults[1], .edge = e->faults[0] + e->faults[1],
		.kernel = grown(r, KERNEL_FAULTS),
	});
	compare(t, (struct comparison){
		.what = OF_MAJOR, .of = "", .source = "/proc/vmstat", .part = true,
		.trace = s->faults[1], .edge = e->faults[1], .kernel = grown(r, KERNEL_MAJOR_FAULTS),
	});
}

/* --- a command ------------------------------------------------------------------ */

#define TASK_IO "/proc/PID/io"

static void compare_calls(struct table *t, const struct receipt_command *command)
{
	const struct receipt_filter *f = &t->part->filter;
	char *reason = why_not(t->r, f, false, false);
	const struct sums *s = &t->part->sums;
	enum sums_direction d;

	if (reason) {
		leave_out(t, TASK_IO, reason);
		free(reason);
		return;
	}
	for (d = SUMS_READ; d <= SUMS_WRITE; d++) {
		struct comparison c = { .what = of_calls[d], .of = "", .source = TASK_IO, .part = !f->all_kinds };

		c.trace = s->calls[d];
		c.kernel = command->io.calls[d];
		compare(t, c);
		c.what = of_moved[d];
		c.trace = s->moved[d];
		c.kernel = command->io.chars[d];
		compare(t, c);
	}
}

/* The bytes that the command submitted itself: those that it read from devices. */
static void compare_submitted(struct table *t, const struct receipt_command *command)
{
	char *reason = why_not(t->r, &t->part->filter, false, false);

	if (reason)
		leave_out(t, TASK_IO, reason);
	else
		compare(t, (struct comparison){
			.what = OF_SUBMITTED, .of = "", .source = TASK_IO,
			.trace = t->part->sums.submitted, .kernel = command->io.bytes[SUMS_READ],
		});
	free(reason);
}

/* The bytes that the command dirtied, or wrote directly. Category fs has the direct writes. */
static void compare_dirtied(struct table *t, const struct receipt_command *command)
{
	const struct receipt_part *fs = receipt_part_of(t->r, IOT_EVENT_ID_FS);
	const struct receipt_filter *f = &t->part->filter;
	char *reason = why_not(t->r, f, false, receipt_has_word(f->operations, "DIRTY"));

	if (!reason && fs)
		reason = why_not(t->r, &fs->filter, false, receipt_has_word(fs->filter.operations, "DIO_WRITE"));
	if (!reason && !fs)
		reason = xstrdup("it counts direct writes, too: record category fs with it");
	if (reason)
		leave_out(t, TASK_IO, reason);
	else
		compare(t, (struct comparison){
			.what = OF_CHARGED, .of = "", .source = TASK_IO,
			.trace = t->part->sums.pages[IOT_CACHE_DIRTY] * sysconf(_SC_PAGESIZE) + fs->sums.direct_writes,
			.kernel = command->io.bytes[SUMS_WRITE],
			.part = !f->all_kinds || !fs->filter.all_kinds,
			.may_be_lost = fs->lost || fs->missed,
		});
	free(reason);
}

static void compare_command_faults(struct table *t, const struct receipt_command *command)
{
	const struct receipt_filter *f = &t->part->filter;
	char *reason = why_not(t->r, f, false, false);
	const struct sums *s = &t->part->sums;

	if (reason) {
		leave_out(t, "getrusage(2)", reason);
		free(reason);
		return;
	}
	compare(t, (struct comparison){
		.what = OF_MINOR, .of = "", .source = "getrusage(2)", .part = true,
		.trace = s->faults[0], .kernel = command->faults[0],
	});
	compare(t, (struct comparison){
		.what = OF_MAJOR, .of = "", .source = "getrusage(2)", .part = !f->all_kinds,
		.trace = s->faults[1], .kernel = command->faults[1],
	});
}

/* --- all ------------------------------------------------------------------------ */

static void compare_part(struct table *t, const struct receipt_command *command)
{
	const struct receipt *r = t->r;
	unsigned int id = t->part->category->event_id;

	if (!t->part->summed) {
		leave_out(t, "", id == IOT_EVENT_ID_FS ?
			  "the kernel counts calls only per process: record a command" :
			  "the kernel has no such counts");
		return;
	}
	if (r->unknown) {
		leave_out(t, "", r->unknown);
		return;
	}
	switch (id) {
	case IOT_EVENT_ID_FS:
		return compare_calls(t, command);
	case IOT_EVENT_ID_BLOCK:
		return r->of_command ? compare_submitted(t, command) : compare_block(t);
	case IOT_EVENT_ID_CACHE:
		return r->of_command ? compare_dirtied(t, command) : compare_cache(t);
	case IOT_EVENT_ID_FAULT:
		return r->of_command ? compare_command_faults(t, command) : compare_faults(t);
	}
}

json_t *receipt_json(struct receipt *r, const struct receipt_command *command)
{
	struct table t = { .compared = json_array(), .without = json_array(), .r = r };
	bool window = !r->of_command && r->until;
	json_t *object = json_object();
	__u64 lost = 0, missed = 0;
	size_t i;

	for (i = 0; i < r->nr; i++) {
		t.part = &r->parts[i];
		lost += t.part->lost;
		missed += t.part->missed;
		compare_part(&t, command);
	}
	json_put(object, "begin_monotonic_ns", window ? json_integer(r->begin) : json_null());
	json_put(object, "end_monotonic_ns", window ? json_integer(r->end) : json_null());
	json_put(object, "lost", json_integer(lost));
	json_put(object, "missed", json_integer(missed));
	json_put(object, "recorder_read_bytes", window ? json_integer(own_bytes(r, SUMS_READ)) : json_null());
	json_put(object, "recorder_write_bytes", window ? json_integer(own_bytes(r, SUMS_WRITE)) : json_null());
	json_put(object, "compared", t.compared);
	json_put(object, "not_compared", t.without);
	return object;
}
