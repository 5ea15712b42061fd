// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "trace/durable.h"
#include "trace/durable_file.h"
#include "trace/durable_flush.h"
#include "trace/durable_version.h"
#include "trace/io_event.h"

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
		if (fs->offset < DURABLE_ALL && durable_has_room(d, f))
			durable_make_unknown(f, fs->offset, durable_lesser(io_range_end(fs->offset, fs->requested), DURABLE_ALL));
		return;
	}
	if (fs->flags & IOT_IO_SYNC && may_have_failed(fs->result))
		durable_give_up(d, f);
	if (fs->result <= 0 || fs->offset >= DURABLE_ALL)
		return;
	to = durable_lesser(io_range_end(fs->offset, fs->result), DURABLE_ALL);
	f->writes++;
	f->written += to - fs->offset;
	if (fs->flags & IOT_IO_SYNC && durable_has_room(d, f)) {
		durable_range_sync(d, f, fs->offset, to, fs->time, end);
		durable_exposure_count(f, to - fs->offset, end, end);
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
	durable_expose(d, f, fs->offset, to, &v);
}

static void truncate(struct durable_file *f, __u64 begin, __u64 end)
{
	extents_drop(&f->pending, begin, end);
	extents_drop(&f->unknown, begin, end);
	extents_drop(&f->synced, begin, end);
}

static void add_fallocate(struct durable *d, struct durable_file *f, const struct iot_fs *fs)
{
	__u64 begin = durable_lesser(fs->offset, DURABLE_ALL), end = durable_lesser(io_range_end(fs->offset, fs->requested), DURABLE_ALL);
	__u64 size = f->end;

	if (fs->result < 0 || begin >= DURABLE_ALL)
		return;
	if (fs->flags & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE)) {
		truncate(f, begin, DURABLE_ALL);
		if (durable_has_room(d, f))
			durable_make_unknown(f, begin, durable_lesser(io_range_end(size, fs->requested), DURABLE_ALL));
	} else if (fs->flags & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) {
		truncate(f, begin, end);
	}
}

/*
 * Bytes that came to the file at offsets that the record does not tell. Its blocks may be shared
 * now.
 */
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
	durable_file_list(d, f);
}

static void add_copy(struct durable *d, const struct iot_fs *fs, const struct source *source, __u64 end)
{
	if (fs->op == IOT_FS_CLONE || fs->op == IOT_FS_DEDUPE)
		add_copied(d, durable_file_get(d, source, fs->device, fs->inode, fs->path), fs, end);
	if (fs->inode2)
		add_copied(d, durable_file_get(d, source, fs->device2, fs->inode2, fs->path2), fs, end);
}

/* --- calls that sync ------------------------------------------------------------ */

static void sync_file(struct durable *d, struct durable_file *f, const struct iot_fs *fs, __u64 end)
{
	durable_range_sync(d, f, 0, DURABLE_ALL, fs->time, end);
	if (f->unplaced && f->unplaced_since <= fs->time)
		f->unplaced = 0;
	/*
	 * fdatasync(2) writes the inode of a new file, too, but not what a rename changed of an
	 * old one
	 */
	if (f->name_since <= fs->time &&
	    (f->name == DURABLE_NAME_NEW || (f->name == DURABLE_NAME_MOVED && fs->op != IOT_FS_FDATASYNC)))
		f->name = DURABLE_NAME_OLD;
}

static void add_sync(struct durable *d, struct durable_file *f, const struct iot_fs *fs, __u64 end)
{
	__u64 to;

	if (fs->result) {
		f->failed_syncs += fs->result < 0;
		if (may_have_failed(fs->result))
			durable_give_up(d, f);
		return;
	}
	if (fs->op == IOT_FS_MSYNC) {
		to = durable_lesser(io_range_end(fs->offset, fs->requested), DURABLE_ALL);
		if (fs->flags & MS_SYNC && fs->offset < DURABLE_ALL)
			durable_range_sync(d, f, fs->offset, to, fs->time, end);
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
			durable_give_up(d, f);
	}
	durable_prune(d);
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
	durable_prune(d);
}

/* --- names ---------------------------------------------------------------------- */

static void set_name(struct durable *d, struct durable_file *f, enum durable_name name, __u64 time)
{
	/* A file that may be gone as a whole stays one when it is renamed. */
	if (name != DURABLE_NAME_MOVED || f->name != DURABLE_NAME_NEW)
		f->name = name;
	f->name_since = time;
	f->changed = true;
	durable_file_list(d, f);
}

static void add_open(struct durable *d, const struct iot_fs *fs, const struct source *source, __u64 end)
{
	bool made = fs->op == IOT_FS_CREATE || (fs->flags & O_TMPFILE) == O_TMPFILE;
	struct durable_file *f;

	if (fs->result < 0 || !fs->inode || (made && fs->kind != IOT_KIND_FILE))
		return;
	/* The number may have been that of a file that is gone. */
	f = made ? durable_file_make(d, source, fs->device, fs->inode) : durable_file_find(d, source, fs->device, fs->inode);
	if (!f)
		return;
	if (fs->path)
		f->path = fs->path;
	if (made) {
		set_name(d, f, DURABLE_NAME_NEW, end);
	} else if (fs->flags & O_TRUNC) {
		truncate(f, 0, DURABLE_ALL);
		f->changed = true;
	}
}

static void add_rename(struct durable *d, struct durable_file *f, const struct iot_fs *fs,
		       const struct source *source, __u64 end)
{
	struct durable_file *replaced = fs->inode2 ? durable_file_find(d, source, fs->device2, fs->inode2) : NULL;

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
		if (fs->result >= 0 && fs->requested < DURABLE_ALL)
			truncate(f, fs->requested, DURABLE_ALL);
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
	__u64 end = fs->time + durable_lesser(fs->latency, ~fs->time);
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
	case IOT_FS_COPY_FILE_RANGE:
	case IOT_FS_SENDFILE:
	case IOT_FS_SPLICE:
		add_copy(d, fs, source, end);
		return;
	}
	if (fs->kind == IOT_KIND_DIR && !fs->result && (fs->op == IOT_FS_FSYNC || fs->op == IOT_FS_FDATASYNC))
		sync_names(d, fs, source);
	if (fs->kind != IOT_KIND_FILE || !fs->inode)
		return;
	f = begins_file(fs) ? durable_file_get(d, source, fs->device, fs->inode, fs->path) :
			      durable_file_find(d, source, fs->device, fs->inode);
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
	struct durable_file *f = page->inode ? durable_file_find(d, source, page->device, page->inode) : NULL;
	const struct extent_version v = { .first = page->time, .last = page->time, .covers = page->time };
	__u64 begin, end;

	if (!f || page->index >= DURABLE_ALL / IO_PAGE)
		return;
	begin = page->index * IO_PAGE;
	end = durable_lesser(io_range_end(begin, (__u64)page->pages * IO_PAGE), DURABLE_ALL);
	switch (page->op) {
	case IOT_CACHE_DIRTY:
		if (!f->mapped || !wanted)
			break;
		f->mapped_pages += page->pages;
		f->changed = true;
		durable_expose(d, f, begin, end, &v);
		break;
	case IOT_CACHE_WRITEBACK_START:
	case IOT_CACHE_WRITEBACK_END:
		durable_writeback(d, f, begin, end, page->time, page->op == IOT_CACHE_WRITEBACK_END);
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
				durable_give_up(d, &d->files[d->list[i]]);
		durable_prune(d);
	} else if (r->op == IOT_BLOCK_FLUSH) {
		if (!(r->flags & IOT_REQ_EARLY))
			durable_flush_add(d, r, source);
	} else if (r->inode) {
		durable_disk_learn(d, r, source);
	}
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
