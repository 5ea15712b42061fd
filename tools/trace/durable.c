// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "base/xalloc.h"
#include "trace/durable.h"
#include "trace/io_event.h"

#define SLOTS	(1U << 19)	/* a power of two above 2 * DURABLE_FILES */
#define ALL	INT64_MAX	/* no file is larger */

const char *const durable_state_names[DURABLE_STATES] = {
	"memory", "writeback", "cache", "unproven", "unknown", "durable",
};

const char *const durable_name_names[] = { "old", "new", "moved", "removed" };

static __u64 lesser(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

/* --- files ---------------------------------------------------------------------- */

static size_t slot_of(struct durable *d, const struct source *source, __u32 device, __u64 inode)
{
	__uint128_t hash;
	size_t slot;

	if (!d->slots) {
		d->slots = xreallocarray(NULL, SLOTS, sizeof(*d->slots));
		memset(d->slots, 0, SLOTS * sizeof(*d->slots));
		if (getrandom(&d->seed, sizeof(d->seed), GRND_NONBLOCK) != sizeof(d->seed))
			d->seed = (uintptr_t)d;
	}
	hash = (__uint128_t)(inode ^ d->seed) * ((0x9e3779b97f4a7c15ULL ^ (uintptr_t)source) + 2 * (__u64)device);
	slot = ((__u64)hash ^ (__u64)(hash >> 64)) & (SLOTS - 1);
	for (; d->slots[slot]; slot = (slot + 1) & (SLOTS - 1)) {
		const struct durable_file *f = &d->files[d->slots[slot] - 1];

		if (f->inode == inode && f->device == device && f->source == source)
			break;
	}
	return slot;
}

static struct durable_file *find(struct durable *d, const struct source *source, __u32 device, __u64 inode)
{
	size_t slot = slot_of(d, source, device, inode);

	return d->slots[slot] ? &d->files[d->slots[slot] - 1] : NULL;
}

/* A file in the place of that which has the key. NULL if there are too many. */
static struct durable_file *make(struct durable *d, const struct source *source, __u32 device, __u64 inode)
{
	size_t slot = slot_of(d, source, device, inode);
	struct durable_file *f;

	if (d->nr == DURABLE_FILES) {
		d->beyond++;
		return NULL;
	}
	if (d->nr == d->room) {
		d->room = d->room ? 2 * d->room : 64;
		d->files = xreallocarray(d->files, d->room, sizeof(*d->files));
	}
	f = &d->files[d->nr++];
	*f = (struct durable_file){ .source = source, .device = device, .inode = inode };
	f->pending.count = f->unknown.count = f->synced.count = &d->extents;
	d->slots[slot] = d->nr;
	return f;
}

static struct durable_file *find_or_make(struct durable *d, const struct source *source, __u32 device,
					 __u64 inode, __u64 path)
{
	struct durable_file *f = inode ? find(d, source, device, inode) : NULL;

	if (!f && inode)
		f = make(d, source, device, inode);
	if (f && path)
		f->path = path;
	return f;
}

static bool is_exposed(const struct durable_file *f)
{
	return f->pending.root || f->unplaced || f->name == DURABLE_NAME_NEW || f->name == DURABLE_NAME_MOVED;
}

bool durable_is_exposed(const struct durable_file *f)
{
	return is_exposed(f) || f->unknown.root || f->crowded;
}

static void list(struct durable *d, struct durable_file *f)
{
	if (f->listed || !is_exposed(f))
		return;
	if (d->nr_list == d->room_list) {
		d->room_list = d->room_list ? 2 * d->room_list : 64;
		d->list = xreallocarray(d->list, d->room_list, sizeof(*d->list));
	}
	d->list[d->nr_list++] = f - d->files;
	f->listed = true;
}

/* Removes those of the list that have nothing exposed any more. */
static void prune(struct durable *d)
{
	size_t i, nr = 0;

	for (i = 0; i < d->nr_list; i++) {
		struct durable_file *f = &d->files[d->list[i]];

		f->listed = is_exposed(f);
		if (f->listed)
			d->list[nr++] = d->list[i];
	}
	d->nr_list = nr;
}

/* --- flushes -------------------------------------------------------------------- */

static struct durable_disk *disk_of(struct durable *d, const struct source *source, __u32 device)
{
	size_t i;

	for (i = 0; i < d->nr_disks; i++)
		if (d->disks[i].device == device && d->disks[i].source == source)
			return &d->disks[i];
	return NULL;
}

static void learn_disk(struct durable *d, const struct iot_block *r, const struct source *source)
{
	struct durable_disk *disk = disk_of(d, source, r->file_device);

	if (disk) {
		disk->several |= memcmp(disk->disk, r->disk, DURABLE_DISK) != 0;
	} else if (d->nr_disks < DURABLE_DISKS) {
		disk = &d->disks[d->nr_disks++];
		*disk = (struct durable_disk){ .source = source, .device = r->file_device };
		memcpy(disk->disk, r->disk, DURABLE_DISK);
	}
}

static struct durable_flushes *flushes_of(struct durable *d, const struct source *source, const char *disk)
{
	size_t i;

	for (i = 0; i < d->nr_flushes; i++)
		if (d->flushes[i].source == source && !memcmp(d->flushes[i].disk, disk, DURABLE_DISK))
			return &d->flushes[i];
	if (i == DURABLE_DISKS)
		return NULL;
	d->flushes[i].source = source;
	memcpy(d->flushes[i].disk, disk, DURABLE_DISK);
	d->nr_flushes++;
	return &d->flushes[i];
}

/* Flushes come by their end. One that was issued before another one that has ended proves no more. */
static void add_flush(struct durable *d, const struct iot_block *r, const struct source *source)
{
	struct durable_flushes *s = flushes_of(d, source, r->disk);
	__u64 end = r->time + lesser(r->latency, ~r->time);
	__u64 issued = end - lesser(r->device_latency, r->latency);

	if (!s || (s->nr && s->at[s->nr - 1].issued >= issued))
		return;
	if (s->nr == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->at = xreallocarray(s->at, s->room, sizeof(*s->at));
	}
	s->at[s->nr++] = (struct durable_flush){ issued, end };
}

/* When the first flush of the file's disk ended that was issued at @at or later. 0: none did. */
static __u64 flushed(const struct durable *d, const struct durable_file *f, __u64 at)
{
	const struct durable_disk *disk = disk_of((struct durable *)d, f->source, f->device);
	const struct durable_flushes *s = NULL;
	size_t i, least = 0, most;

	if (d->no_cache)
		return at;
	for (i = 0; disk && !disk->several && i < d->nr_flushes && !s; i++)
		if (d->flushes[i].source == f->source && !memcmp(d->flushes[i].disk, disk->disk, DURABLE_DISK))
			s = &d->flushes[i];
	for (most = s ? s->nr : 0; least < most;) {
		size_t middle = least + (most - least) / 2;

		if (s->at[middle].issued >= at)
			most = middle;
		else
			least = middle + 1;
	}
	return s && least < s->nr ? s->at[least].end : 0;
}

/* --- versions ------------------------------------------------------------------- */

/* What is done with the ranges of a file. */
struct step {
	struct durable *d;
	struct durable_file *f;
	__u64 begin, end;		/* of a sync */
	struct extent_version version;	/* to be added */
};

/* Rounds up to three digits, so that a file has few different exposures. */
static __u64 rounded(__u64 ns)
{
	__u64 unit = 1;

	while (ns / unit >= 1000)
		unit *= 10;
	return ns / unit * unit + (ns % unit ? unit : 0);
}

static void count_exposure(struct durable_file *f, __u64 bytes, __u64 first, __u64 durable)
{
	__u64 ns = durable > first ? durable - first : 0;

	if (ns > f->longest)
		f->longest = ns;
	distribution_add(&f->exposures, rounded(ns), bytes);
}

/* Removes versions that are durable: those before @nr that were acknowledged until @covers, and the last. */
static void remove_versions(struct durable_file *f, struct extent *x, unsigned int nr, __u64 covers, __u64 durable)
{
	unsigned int i, kept = 0;

	for (i = 0; i < x->nr; i++) {
		if (i + 1 == nr || (i < nr && x->versions[i].last <= covers))
			count_exposure(f, x->end - x->begin, x->versions[i].first, durable);
		else
			x->versions[kept++] = x->versions[i];
	}
	x->nr = kept;
}

/* Takes what a flush made durable. Returns whether something is left. */
static bool settle(struct extent *x, void *data)
{
	const struct step *s = data;
	unsigned int i;

	if (!s->d->in_place || !extents_has(&s->f->synced, x->begin, x->end))
		return x->nr;
	for (i = x->nr; i > 0;) {
		const struct extent_version *v = &x->versions[i - 1];
		__u64 durable = v->state == EXTENT_CACHE ? flushed(s->d, s->f, v->at) : 0;

		if (!durable) {
			i--;
			continue;
		}
		extents_drop(&s->f->unknown, x->begin, x->end);
		remove_versions(s->f, x, i, v->covers, durable);
		i = x->nr;
	}
	return x->nr;
}

/* Takes what a call made durable, which was acknowledged before the call began. */
static bool sync_one(struct extent *x, void *data)
{
	const struct step *s = data;
	unsigned int i;

	settle(x, data);
	for (i = x->nr; i > 0 && x->versions[i - 1].last > s->begin; i--)
		;
	if (!i)
		return x->nr;
	remove_versions(s->f, x, i, s->begin, s->end);
	extents_add(&s->f->synced, x->begin, x->end);
	extents_drop(&s->f->unknown, x->begin, x->end);
	return x->nr;
}

static bool add_one(struct extent *x, void *data)
{
	const struct step *s = data;

	settle(x, data);
	if (x->nr == EXTENT_VERSIONS) {
		/* The newest two become one that is in memory, which claims least. */
		x->versions[x->nr - 2].last = x->versions[x->nr - 1].last;
		x->versions[x->nr - 2].state = EXTENT_MEMORY;
		x->nr--;
	}
	x->versions[x->nr++] = s->version;
	return true;
}

static bool start_one(struct extent *x, void *data)
{
	const struct step *s = data;
	unsigned int i;

	for (i = 0; i < x->nr; i++)
		if (x->versions[i].state == EXTENT_MEMORY && x->versions[i].last <= s->begin)
			x->versions[i].state = EXTENT_WRITEBACK;
	return true;
}

static bool end_one(struct extent *x, void *data)
{
	const struct step *s = data;
	unsigned int i;

	for (i = 0; i < x->nr; i++) {
		if (x->versions[i].state != EXTENT_WRITEBACK)
			continue;
		x->versions[i].state = EXTENT_CACHE;
		x->versions[i].at = s->begin;
	}
	return true;
}

static void each(struct step *s, __u64 begin, __u64 end, bool (*one)(struct extent *x, void *data))
{
	struct extents *pending = &s->f->pending;

	extents_put(pending, extents_keep(pending, extents_take(pending, begin, end), one, s));
}

static void sync_range(struct durable *d, struct durable_file *f, __u64 begin, __u64 end, __u64 from, __u64 to)
{
	struct step s = { .d = d, .f = f, .begin = from, .end = to };

	each(&s, begin, end, sync_one);
}

static void make_unknown(struct durable_file *f, __u64 begin, __u64 end)
{
	if (!f->crowded)
		extents_add(&f->unknown, begin, end);
}

static bool forget_one(struct extent *x, void *data)
{
	const struct step *s = data;

	make_unknown(s->f, x->begin, x->end);
	return false;
}

/* Nothing that is exposed will be known to be durable. */
static void give_up(struct durable *d, struct durable_file *f)
{
	struct step s = { .d = d, .f = f };

	each(&s, 0, ALL, forget_one);
}

void durable_finish(struct durable *d)
{
	size_t i;

	for (i = 0; i < d->nr_list; i++) {
		struct step s = { .d = d, .f = &d->files[d->list[i]] };

		each(&s, 0, ALL, settle);
	}
	prune(d);
}

/* Whether there is room for a further range of the file; else it is given up. */
static bool has_room(struct durable *d, struct durable_file *f)
{
	if (d->extents < DURABLE_EXTENTS / 2)
		d->swept = false;
	if (d->extents >= DURABLE_EXTENTS && !d->swept) {
		durable_finish(d);
		d->swept = true;
	}
	if (d->extents < DURABLE_EXTENTS && !f->crowded)
		return true;
	f->crowded = true;
	extents_free(&f->pending);
	extents_free(&f->unknown);
	extents_free(&f->synced);
	return false;
}

/* Cuts pending ranges where synced ones begin and end: which of the ways is open differs there. */
static void cut_at(const struct extent *x, void *data)
{
	struct step *s = data;

	if (x->begin > s->begin)
		extents_cut(&s->f->pending, x->begin);
	if (x->end < s->end)
		extents_cut(&s->f->pending, x->end);
}

static void expose(struct durable *d, struct durable_file *f, __u64 begin, __u64 end,
		   const struct extent_version *v)
{
	struct step s = { .d = d, .f = f, .begin = begin, .end = end, .version = *v };
	struct extent *x;

	if (begin >= end || end > ALL || !has_room(d, f))
		return;
	x = extents_fill(&f->pending, extents_take(&f->pending, begin, end), begin, end);
	extents_put(&f->pending, x);
	if (d->in_place)
		extents_each(&f->synced, begin, end, cut_at, &s);
	each(&s, begin, end, add_one);
	if (end > f->end)
		f->end = end;
	list(d, f);
}

/* --- calls that write ----------------------------------------------------------- */

/* Whether a call may have met a failure of the disk: pages that were not written are clean then. */
static bool may_have_failed(__s64 result)
{
	return result < 0 && result != -EBADF && result != -EINVAL && result != -EINTR && result != -EAGAIN &&
	       result > -512;
}

static void add_write(struct durable *d, struct durable_file *f, const struct iot_fs *fs, __u64 end)
{
	struct extent_version v = { .first = end, .last = end, .covers = fs->time };
	__u64 to;

	f->changed = true;
	if (fs->flags & IOT_IO_ASYNC) {
		d->async_writes++;
		f->writes++;
		if (fs->offset < ALL && has_room(d, f))
			make_unknown(f, fs->offset, lesser(io_range_end(fs->offset, fs->requested), ALL));
		return;
	}
	if (fs->flags & IOT_IO_SYNC && may_have_failed(fs->result))
		give_up(d, f);
	if (fs->result <= 0 || fs->offset >= ALL)
		return;
	to = lesser(io_range_end(fs->offset, fs->result), ALL);
	f->writes++;
	f->written += to - fs->offset;
	if (fs->flags & IOT_IO_SYNC && has_room(d, f)) {
		sync_range(d, f, fs->offset, to, fs->time, end);
		count_exposure(f, to - fs->offset, end, end);
		extents_add(&f->synced, fs->offset, to);
		extents_drop(&f->unknown, fs->offset, to);
		if (to > f->end)
			f->end = to;
		return;
	}
	if (fs->op == IOT_FS_DIO_WRITE) {
		v.state = EXTENT_CACHE;
		v.at = end;
	}
	expose(d, f, fs->offset, to, &v);
}

static void truncate(struct durable_file *f, __u64 begin, __u64 end)
{
	extents_drop(&f->pending, begin, end);
	extents_drop(&f->unknown, begin, end);
	extents_drop(&f->synced, begin, end);
}

static void add_fallocate(struct durable *d, struct durable_file *f, const struct iot_fs *fs)
{
	__u64 begin = lesser(fs->offset, ALL), end = lesser(io_range_end(fs->offset, fs->requested), ALL);
	__u64 size = f->end;

	if (fs->result < 0 || begin >= ALL)
		return;
	if (fs->flags & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE)) {
		truncate(f, begin, ALL);
		if (has_room(d, f))
			make_unknown(f, begin, lesser(io_range_end(size, fs->requested), ALL));
	} else if (fs->flags & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) {
		truncate(f, begin, end);
	}
}

/* Bytes that came to the file at offsets that the record does not tell. Its blocks may be shared now. */
static void add_copied(struct durable *d, struct durable_file *f, const struct iot_fs *fs, __u64 end)
{
	if (!f)
		return;
	f->changed = true;
	extents_free(&f->synced);
	if (fs->result < 0)
		return;
	if (!f->unplaced)
		f->unplaced_since = end;
	f->unplaced += fs->result ? (__u64)fs->result : fs->requested;
	list(d, f);
}

/* --- calls that sync ------------------------------------------------------------ */

static void sync_file(struct durable *d, struct durable_file *f, const struct iot_fs *fs, __u64 end)
{
	sync_range(d, f, 0, ALL, fs->time, end);
	if (f->unplaced && f->unplaced_since <= fs->time)
		f->unplaced = 0;
	/* fdatasync(2) writes the inode of a new file, too, but not what a rename changed of an old one */
	if (f->name_since <= fs->time &&
	    (f->name == DURABLE_NAME_NEW || (f->name == DURABLE_NAME_MOVED && fs->op != IOT_FS_FDATASYNC)))
		f->name = DURABLE_NAME_OLD;
}

static void add_sync(struct durable *d, struct durable_file *f, const struct iot_fs *fs, __u64 end)
{
	if (fs->result) {
		f->failed_syncs += fs->result < 0;
		if (may_have_failed(fs->result))
			give_up(d, f);
		return;
	}
	if (fs->op == IOT_FS_MSYNC) {
		if (fs->flags & MS_SYNC && fs->offset < ALL)
			sync_range(d, f, fs->offset, lesser(io_range_end(fs->offset, fs->requested), ALL),
				   fs->time, end);
		return;
	}
	f->syncs++;
	f->idle_syncs += f->has_synced && !f->changed && !f->mapped;
	f->has_synced = true;
	f->changed = false;
	sync_file(d, f, fs, end);
}

/* All files of a filesystem, or of all. sync(2) does not tell of failures: requests must. */
static void sync_all(struct durable *d, const struct iot_fs *fs, const struct source *source, __u64 end)
{
	size_t i;

	if (fs->op == IOT_FS_SYNC && !d->has_requests)
		return;
	for (i = 0; i < d->nr_list; i++) {
		struct durable_file *f = &d->files[d->list[i]];

		if (f->source != source || (fs->op == IOT_FS_SYNCFS && f->device != fs->device))
			continue;
		if (!fs->result)
			sync_file(d, f, fs, end);
		else if (may_have_failed(fs->result))
			give_up(d, f);
	}
	prune(d);
}

/* The length of the directory's part of a path. */
static size_t directory_of(const struct name *name)
{
	size_t length = name->length;

	while (length && name->text[length - 1] != '/')
		length--;
	return length > 1 ? length - 1 : length;
}

/* A directory was synced: the names in it are on the disk. */
static void sync_names(struct durable *d, const struct iot_fs *fs, const struct source *source)
{
	const struct name *directory = names_find(d->names, fs->path);
	size_t i;

	for (i = 0; directory && i < d->nr_list; i++) {
		struct durable_file *f = &d->files[d->list[i]];
		const struct name *name = names_find(d->names, f->path);

		if (f->source == source && f->device == fs->device && f->name_since <= fs->time && name &&
		    directory_of(name) == directory->length &&
		    !memcmp(name->text, directory->text, directory->length))
			f->name = DURABLE_NAME_OLD;
	}
	prune(d);
}

/* --- names ---------------------------------------------------------------------- */

static void set_name(struct durable *d, struct durable_file *f, enum durable_name name, __u64 time)
{
	/* A file that may be gone as a whole stays one when it is renamed. */
	if (name != DURABLE_NAME_MOVED || f->name != DURABLE_NAME_NEW)
		f->name = name;
	f->name_since = time;
	f->changed = true;
	list(d, f);
}

static void add_open(struct durable *d, const struct iot_fs *fs, const struct source *source, __u64 end)
{
	bool made = fs->op == IOT_FS_CREATE || (fs->flags & O_TMPFILE) == O_TMPFILE;
	struct durable_file *f;

	if (fs->result < 0 || !fs->inode || (made && fs->kind != IOT_KIND_FILE))
		return;
	/* The number may have been that of a file that is gone. */
	f = made ? make(d, source, fs->device, fs->inode) : find(d, source, fs->device, fs->inode);
	if (!f)
		return;
	if (fs->path)
		f->path = fs->path;
	if (made) {
		set_name(d, f, DURABLE_NAME_NEW, end);
	} else if (fs->flags & O_TRUNC) {
		truncate(f, 0, ALL);
		f->changed = true;
	}
}

static void add_rename(struct durable *d, struct durable_file *f, const struct iot_fs *fs,
		       const struct source *source, __u64 end)
{
	struct durable_file *replaced = fs->inode2 ? find(d, source, fs->device2, fs->inode2) : NULL;

	if (fs->result < 0)
		return;
	if (fs->path2)
		f->path = fs->path2;
	set_name(d, f, DURABLE_NAME_MOVED, end);
	if (fs->op == IOT_FS_RENAME && replaced && replaced != f)
		set_name(d, replaced, DURABLE_NAME_REMOVED, end);
}

/* --- records -------------------------------------------------------------------- */

static void add_to_file(struct durable *d, struct durable_file *f, const struct iot_fs *fs,
			const struct source *source, __u64 end)
{
	switch (fs->op) {
	case IOT_FS_TRUNCATE:
		f->changed = true;
		if (fs->result >= 0 && fs->requested < ALL)
			truncate(f, fs->requested, ALL);
		break;
	case IOT_FS_FALLOCATE:
		f->changed = true;
		add_fallocate(d, f, fs);
		break;
	case IOT_FS_FSYNC:
	case IOT_FS_FDATASYNC:
	case IOT_FS_MSYNC:
		add_sync(d, f, fs, end);
		break;
	case IOT_FS_RENAME:
	case IOT_FS_LINK:
		add_rename(d, f, fs, source, end);
		break;
	case IOT_FS_UNLINK:
		if (!fs->result)
			set_name(d, f, DURABLE_NAME_REMOVED, end);
		break;
	case IOT_FS_MMAP:
		f->mapped |= fs->result != -1 && fs->flags & MAP_SHARED && fs->flags2 & PROT_WRITE;
		break;
	case IOT_FS_READ:
	case IOT_FS_DIO_READ:
	case IOT_FS_SYNC_FILE_RANGE:
		break;
	default:
		f->changed |= !io_op_only_looks(fs->op);
	}
}

/* Whether a call changes or syncs a file that was not heard of before. */
static bool begins_file(const struct iot_fs *fs)
{
	switch (fs->op) {
	case IOT_FS_WRITE:
	case IOT_FS_DIO_WRITE:
	case IOT_FS_FSYNC:
	case IOT_FS_FDATASYNC:
	case IOT_FS_FALLOCATE:
	case IOT_FS_TRUNCATE:
	case IOT_FS_RENAME:
	case IOT_FS_LINK:
		return true;
	case IOT_FS_MMAP:
		return fs->flags & MAP_SHARED && fs->flags2 & PROT_WRITE;
	default:
		return false;
	}
}

void durable_call(struct durable *d, const struct iot_fs *fs, const struct source *source, bool wanted)
{
	__u64 end = fs->time + lesser(fs->latency, ~fs->time);
	struct durable_file *f;

	switch (fs->op) {
	case IOT_FS_SYNC:
	case IOT_FS_SYNCFS:
		sync_all(d, fs, source, end);
		return;
	case IOT_FS_OPEN:
	case IOT_FS_CREATE:
		add_open(d, fs, source, end);
		return;
	case IOT_FS_CLONE:
	case IOT_FS_DEDUPE:
		add_copied(d, find_or_make(d, source, fs->device, fs->inode, fs->path), fs, end);
		/* fall through */
	case IOT_FS_COPY_FILE_RANGE:
	case IOT_FS_SENDFILE:
	case IOT_FS_SPLICE:
		if (fs->inode2)
			add_copied(d, find_or_make(d, source, fs->device2, fs->inode2, fs->path2), fs, end);
		return;
	}
	if (fs->kind == IOT_KIND_DIR && !fs->result && (fs->op == IOT_FS_FSYNC || fs->op == IOT_FS_FDATASYNC))
		sync_names(d, fs, source);
	if (fs->kind != IOT_KIND_FILE || !fs->inode)
		return;
	f = begins_file(fs) ? find_or_make(d, source, fs->device, fs->inode, fs->path) :
			      find(d, source, fs->device, fs->inode);
	if (!f)
		return;
	if (fs->op == IOT_FS_WRITE || fs->op == IOT_FS_DIO_WRITE) {
		if (wanted)
			add_write(d, f, fs, end);
	} else {
		add_to_file(d, f, fs, source, end);
	}
}

void durable_page(struct durable *d, const struct iot_cache *page, const struct source *source, bool wanted)
{
	struct durable_file *f = page->inode ? find(d, source, page->device, page->inode) : NULL;
	const struct extent_version v = { .first = page->time, .last = page->time, .covers = page->time };
	struct step s = { .d = d, .f = f, .begin = page->time };
	__u64 begin, end;

	if (!f || page->index >= ALL / IO_PAGE)
		return;
	begin = page->index * IO_PAGE;
	end = lesser(io_range_end(begin, (__u64)page->pages * IO_PAGE), ALL);
	switch (page->op) {
	case IOT_CACHE_DIRTY:
		if (!f->mapped || !wanted)
			break;
		f->mapped_pages += page->pages;
		f->changed = true;
		expose(d, f, begin, end, &v);
		break;
	case IOT_CACHE_WRITEBACK_START:
		each(&s, begin, end, start_one);
		break;
	case IOT_CACHE_WRITEBACK_END:
		each(&s, begin, end, end_one);
		break;
	}
}

void durable_request(struct durable *d, const struct iot_block *r, const struct source *source)
{
	size_t i;

	if (r->op != IOT_BLOCK_WRITE && r->op != IOT_BLOCK_FLUSH && r->op != IOT_BLOCK_ZONE_APPEND &&
	    r->op != IOT_BLOCK_WRITE_ZEROES)
		return;
	if (r->result < 0) {
		d->failed_requests++;
		for (i = 0; i < d->nr_list; i++)
			if (d->files[d->list[i]].source == source)
				give_up(d, &d->files[d->list[i]]);
		prune(d);
	} else if (r->op == IOT_BLOCK_FLUSH) {
		if (!(r->flags & IOT_REQ_EARLY))
			add_flush(d, r, source);
	} else if (r->inode) {
		learn_disk(d, r, source);
	}
}

/* --- what comes of it ----------------------------------------------------------- */

/* Tells ranges of one tree that are in none of the others. */
struct listing {
	const struct durable *d;
	const struct durable_file *f;
	void (*each)(const struct durable_range *r, void *data);
	void *data;
	const struct extents *less[2];	/* NULL: none */
	enum durable_state state;
	__u64 next;		/* where the next gap may begin */
};

static void tell(const struct listing *l, __u64 begin, __u64 end, __u64 since, enum durable_state state)
{
	const struct durable_range r = { begin, end, since, state };

	if (begin < end)
		l->each(&r, l->data);
}

static void tell_pending(const struct extent *x, void *data)
{
	const struct listing *l = data;
	const struct extent_version *newest = &x->versions[x->nr - 1];
	enum durable_state state = newest->state == EXTENT_MEMORY ? DURABLE_MEMORY :
				   newest->state == EXTENT_WRITEBACK ? DURABLE_WRITEBACK :
				   flushed(l->d, l->f, newest->at) ? DURABLE_UNPROVEN : DURABLE_CACHE;

	tell(l, x->begin, x->end, x->versions[0].first, state);
}

static void tell_rest(const struct extent *x, void *data);

static void tell_gap(struct listing *l, __u64 begin, __u64 end)
{
	struct listing rest = *l;
	const struct extent gap = { .begin = begin, .end = end };

	if (begin >= end)
		return;
	rest.less[0] = l->less[1];
	rest.less[1] = NULL;
	tell_rest(&gap, &rest);
}

static void step_over(const struct extent *x, void *data)
{
	struct listing *l = data;

	tell_gap(l, l->next, x->begin);
	l->next = x->end;
}

static void tell_rest(const struct extent *x, void *data)
{
	struct listing *l = data;

	if (!l->less[0]) {
		tell(l, x->begin, x->end, 0, l->state);
		return;
	}
	l->next = x->begin;
	extents_each(l->less[0], x->begin, x->end, step_over, l);
	tell_gap(l, l->next, x->end);
}

void durable_ranges(const struct durable *d, const struct durable_file *f,
		    void (*each)(const struct durable_range *r, void *data), void *data)
{
	struct listing l = { .d = d, .f = f, .each = each, .data = data };

	extents_each(&f->pending, 0, ALL, tell_pending, &l);
	l.less[0] = &f->pending;
	l.state = DURABLE_UNKNOWN;
	extents_each(&f->unknown, 0, ALL, tell_rest, &l);
	l.less[1] = &f->unknown;
	l.state = DURABLE_SAFE;
	extents_each(&f->synced, 0, ALL, tell_rest, &l);
}

void durable_free(struct durable *d)
{
	size_t i;

	for (i = 0; i < d->nr; i++) {
		extents_free(&d->files[i].pending);
		extents_free(&d->files[i].unknown);
		extents_free(&d->files[i].synced);
		distribution_free(&d->files[i].exposures);
	}
	for (i = 0; i < d->nr_flushes; i++)
		free(d->flushes[i].at);
	free(d->files);
	free(d->slots);
	free(d->list);
}
