// SPDX-License-Identifier: GPL-2.0
/*
 * Rules about category fs: by file, and by process.
 *
 * Thresholds have two parts: a count below which nothing is said, as a thousand calls of a few
 * microseconds cost a few milliseconds, and the share of such calls above which they are the way
 * in which the subject works, not an exception.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/scaled.h"
#include "trace/finding.h"
#include "trace/io_event.h"
#include "uapi/iotracer.h"

#define CALLS_LEAST	1000	/* calls: with 1 us each, a millisecond */
#define HALF		50	/* percent: the way in which the subject works */
#define SMALL		4096	/* bytes: less than a page, so that two calls pay for one page */
#define UNALIGNED_LEAST	256	/* calls: each may read a page from the device, 0.1 ms and more */
#define SYNCS_LEAST	100	/* calls: each waits for the device, 1 ms and more */
#define WAITS_LEAST	10	/* calls: fewer may be one start or shutdown */
#define WAIT_TIME	10	/* percent of the duration: what a program notices */
#define READ_SLOW	50000	/* ns and one more for each byte: longer than from memory */
#define SYNC_SMALL	(16 * FINDING_KIB)	/* bytes: writing these takes less than the flush */
#define SYNC_IDLE	25	/* percent: a fsync now and then with nothing to do is no fault */
#define AGAIN_LEAST	(16 * FINDING_MIB)	/* bytes moved again: 10 ms of a fast device */
#define MISALIGNED_LEAST 10	/* calls: a probe for the alignment fails once or twice */
#define MISSING		25	/* percent: searches along a path of few directories stay below */
#define METADATA_LEAST	5000	/* calls */
#define METADATA	75	/* percent of a process's calls */
#define METADATA_TIME	5	/* percent of the duration */
#define STALL		(100 * FINDING_MS)	/* ns: copying to memory takes a thousandth of it */
#define STALLS_LEAST	5	/* calls: one may be the scheduler's */
#define OPEN_USES	4	/* reads and writes for an open: fewer do not pay for it */

/* --- what is kept --------------------------------------------------------------- */

/* A range of a file that was read or written, and how much of it surely again. */
struct range {
	__u64 bytes, least, end;
	__u64 again;		/* of ranges before a truncation */
};

struct file {
	struct finding_subject subject;
	struct finding_tally reads, small_reads, slow_reads, ends;	/* ends: returned 0 */
	struct finding_tally direct_reads, direct_refused, direct;
	struct finding_tally writes, small_writes, unaligned, stalls;
	struct finding_tally syncs, small_syncs, idle_syncs;
	struct finding_tally opens;
	struct range read, direct_read, written;
	__u64 next;		/* offset where the last write ended */
	__u64 dirty;		/* bytes written since the last fsync */
	bool synced;		/* there was an fsync */
	bool changed;		/* since the last fsync, or it may have been */
	bool mapped;		/* shared and writable: changes make no event */
	__u16 kind;
};

struct process {
	struct finding_subject subject;
	struct finding_tally calls, metadata, lookups, missing, failed;
	unsigned int error;	/* the latest errno of @failed */
};

enum { FILES, PROCESSES };

static __u64 again(const struct range *r)
{
	__u64 extent = r->end - r->least;

	return r->again + (r->bytes > extent ? r->bytes - extent : 0);
}

static void widen(struct range *r, __u64 offset, __u64 bytes)
{
	/* No file is larger. */
	if (!bytes || offset > INT64_MAX || bytes > INT64_MAX)
		return;
	if (!r->bytes || offset < r->least)
		r->least = offset;
	if (!r->bytes || offset + bytes > r->end)
		r->end = offset + bytes;
	r->bytes += bytes;
}

/* The file was truncated: what is written from now on is not written again. */
static void begin_again(struct range *r)
{
	*r = (struct range){ .again = again(r) };
}

/* --- reads and writes ----------------------------------------------------------- */

static void add_read(struct file *f, const struct iot_fs *fs, const struct measure *m)
{
	if (m->error)
		return;
	finding_count(&f->reads, m);
	if (!m->bytes && fs->requested)
		finding_count(&f->ends, m);
	else if (m->bytes < SMALL)
		finding_count(&f->small_reads, m);
	if (m->latency >= READ_SLOW + m->bytes)
		finding_count(&f->slow_reads, m);
	if (fs->op == IOT_FS_DIO_READ) {
		finding_count(&f->direct_reads, m);
		widen(&f->direct_read, fs->offset, m->bytes);
	} else {
		widen(&f->read, fs->offset, m->bytes);
	}
}

/*
 * Whether a write changes a part of a page that has other data. One that goes on where the last
 * one ended fills a page that is in memory, and what is behind all that was written may be the
 * end of the file.
 */
static bool is_unaligned(const struct file *f, const struct iot_fs *fs, const struct measure *m)
{
	__u64 end = fs->offset + m->bytes;

	if (!m->bytes || fs->offset == f->next)
		return false;
	return fs->offset % FINDING_PAGE || (end % FINDING_PAGE && end < f->written.end);
}

static void add_write(struct file *f, const struct iot_fs *fs, const struct measure *m)
{
	if (m->error)
		return;
	finding_count(&f->writes, m);
	if (m->bytes < SMALL)
		finding_count(&f->small_writes, m);
	if (is_unaligned(f, fs, m))
		finding_count(&f->unaligned, m);
	if (fs->op == IOT_FS_WRITE && m->latency >= STALL)
		finding_count(&f->stalls, m);
	widen(&f->written, fs->offset, m->bytes);
	f->next = fs->offset + m->bytes;
	f->dirty += m->bytes;
	f->changed = true;
}

/* Refused as it is not aligned, as far as the record shows: the address in memory is not in it. */
static void add_direct(struct file *f, const struct iot_fs *fs, const struct measure *m)
{
	finding_count(&f->direct, m);
	if (m->error == EINVAL && (fs->offset | fs->requested) % FINDING_PAGE)
		finding_count(&f->direct_refused, m);
}

/* --- other operations ----------------------------------------------------------- */

static void add_sync(struct file *f, const struct measure *m)
{
	if (m->error)
		return;
	finding_count(&f->syncs, m);
	if (f->synced && !f->changed)
		finding_count(&f->idle_syncs, m);
	if (f->dirty && f->dirty < SYNC_SMALL) {
		f->small_syncs.bytes += f->dirty;
		finding_count(&f->small_syncs, m);
	}
	f->synced = true;
	f->changed = false;
	f->dirty = 0;
}

static void add_open(struct file *f, const struct iot_fs *fs, const struct measure *m)
{
	if (m->error)
		return;
	finding_count(&f->opens, m);
	if (fs->flags & O_TRUNC) {
		begin_again(&f->written);
		f->changed = true;
	}
}

static void add_other(struct file *f, const struct iot_fs *fs, const struct measure *m)
{
	if (fs->op == IOT_FS_MMAP && fs->flags & MAP_SHARED && fs->flags2 & PROT_WRITE)
		f->mapped = true;
	if (fs->op == IOT_FS_TRUNCATE && !m->error)
		begin_again(&f->written);
	if (!io_op_only_looks(fs->op))
		f->changed = true;
}

static void add_to_file(struct file *f, const struct iot_fs *fs, const struct measure *m)
{
	if (fs->path)
		f->subject.path = fs->path;
	f->kind = fs->kind;
	if (fs->op == IOT_FS_DIO_READ || fs->op == IOT_FS_DIO_WRITE)
		add_direct(f, fs, m);
	switch (fs->op) {
	case IOT_FS_DIO_READ:
	case IOT_FS_READ:
		add_read(f, fs, m);
		break;
	case IOT_FS_DIO_WRITE:
	case IOT_FS_WRITE:
		add_write(f, fs, m);
		break;
	case IOT_FS_FSYNC:
	case IOT_FS_FDATASYNC:
		add_sync(f, m);
		break;
	case IOT_FS_OPEN:
	case IOT_FS_CREATE:
		add_open(f, fs, m);
		break;
	default:
		add_other(f, fs, m);
	}
}

static bool is_lookup(unsigned int op)
{
	return op == IOT_FS_OPEN || op == IOT_FS_GETATTR || op == IOT_FS_ACCESS || op == IOT_FS_READLINK ||
	       op == IOT_FS_CHDIR || op == IOT_FS_PROCESS_EXEC;
}

static bool is_metadata(unsigned int op)
{
	switch (op) {
	case IOT_FS_OPEN:
	case IOT_FS_CREATE:
	case IOT_FS_UNLINK:
	case IOT_FS_RENAME:
	case IOT_FS_LINK:
	case IOT_FS_SYMLINK:
	case IOT_FS_MKDIR:
	case IOT_FS_RMDIR:
	case IOT_FS_CHMOD:
	case IOT_FS_CHOWN:
	case IOT_FS_UTIMENS:
	case IOT_FS_SETXATTR:
		return true;
	default:
		return io_op_only_looks(op) && op != IOT_FS_MADVISE && op != IOT_FS_FADVISE;
	}
}

/* What is no fault: try again, a signal came. ENOENT has a rule of its own. */
static bool is_fault(unsigned int error)
{
	return error && error != EAGAIN && error != EINTR && error != ENOENT && error < 512;
}

static void add_to_process(struct process *p, const struct iot_fs *fs, const struct measure *m)
{
	finding_count(&p->calls, m);
	if (is_metadata(fs->op))
		finding_count(&p->metadata, m);
	if (is_lookup(fs->op)) {
		finding_count(&p->lookups, m);
		if (m->error == ENOENT)
			finding_count(&p->missing, m);
	}
	if (is_fault(m->error)) {
		finding_count(&p->failed, m);
		p->error = m->error;
	}
}

/* Events that are part of another one, or no call. */
static bool is_call(const struct iot_fs *fs)
{
	return fs->op < IOT_FS_BLOCK_READ || fs->op == IOT_FS_DEDUPE || fs->op == IOT_FS_IOCTL ||
	       fs->op == IOT_FS_SETFLAGS;
}

static void add(struct finding_events *e, const void *record, const struct measure *m)
{
	const struct iot_fs *fs = record;
	const struct { const void *source; __u64 inode, path, device; } key = {
		e->source, fs->inode, fs->inode ? 0 : fs->path, fs->device,
	};
	const struct { const void *source; __u64 pid; } task = { e->source, fs->pid };

	if (!is_call(fs) || fs->op == IOT_FS_PROCESS_EXIT)
		return;
	add_to_process(finding_find(e, PROCESSES, &task, sizeof(task), m, fs->pid, fs->comm), fs, m);
	if (fs->kind <= IOT_KIND_DIR && (fs->inode || (fs->path && m->error != ENOENT)))
		add_to_file(finding_find(e, FILES, &key, sizeof(key), m, fs->pid, fs->comm), fs, m);
	if (fs->inode2) {
		const struct { const void *source; __u64 inode, path, device; } second = {
			e->source, fs->inode2, 0, fs->device2,
		};
		struct file *f = finding_find(e, FILES, &second, sizeof(second), m, fs->pid, fs->comm);

		f->changed = true;
		if (fs->path2)
			f->subject.path = fs->path2;
	}
}

/* --- the rules ------------------------------------------------------------------ */

static bool small_reads(const void *subject, const struct finding_context *c,
			struct finding_row *row)
{
	const struct file *f = subject;

	(void)c;
	return finding_is_most(row, &f->small_reads, f->reads.count, CALLS_LEAST, HALF);
}

static bool small_writes(const void *subject, const struct finding_context *c,
			 struct finding_row *row)
{
	const struct file *f = subject;

	(void)c;
	return finding_is_most(row, &f->small_writes, f->writes.count, CALLS_LEAST, HALF);
}

static bool unaligned_writes(const void *subject, const struct finding_context *c,
			     struct finding_row *row)
{
	const struct file *f = subject;

	(void)c;
	return finding_is_most(row, &f->unaligned, f->writes.count, UNALIGNED_LEAST, HALF);
}

static bool read_wait(const void *subject, const struct finding_context *c, struct finding_row *row)
{
	const struct file *f = subject;
	char mean[SCALED];

	if (!c->duration || !finding_is_most(row, &f->slow_reads, f->reads.count, WAITS_LEAST, 0))
		return false;
	snprintf(row->note, sizeof(row->note), "%s each, %.1f %% of the time",
		 scaled_time(mean, finding_mean(&f->slow_reads)), 100.0 * f->slow_reads.time / c->duration);
	return finding_share(f->slow_reads.time, c->duration, WAIT_TIME);
}

static bool fsync_storm(const void *subject, const struct finding_context *c,
			struct finding_row *row)
{
	const struct file *f = subject;

	if (!c->duration || !finding_is_most(row, &f->syncs, f->syncs.count, WAITS_LEAST, 0))
		return false;
	snprintf(row->note, sizeof(row->note), "%.1f a second, %.1f %% of the time",
		 (double)f->syncs.count * FINDING_S / c->duration, 100.0 * f->syncs.time / c->duration);
	return finding_share(f->syncs.time, c->duration, WAIT_TIME);
}

static bool fsync_small(const void *subject, const struct finding_context *c,
			struct finding_row *row)
{
	const struct file *f = subject;
	char mean[SCALED];

	(void)c;
	if (!finding_is_most(row, &f->small_syncs, f->syncs.count, SYNCS_LEAST, HALF))
		return false;
	snprintf(row->note, sizeof(row->note), "%s written for each on average",
		 scaled_size(mean, (double)f->small_syncs.bytes / f->small_syncs.count));
	return true;
}

static bool fsync_idle(const void *subject, const struct finding_context *c,
		       struct finding_row *row)
{
	const struct file *f = subject;

	(void)c;
	/* A directory changes with its entries. */
	return !f->mapped && f->kind != IOT_KIND_DIR &&
	       finding_is_most(row, &f->idle_syncs, f->syncs.count, SYNCS_LEAST, SYNC_IDLE);
}

/* As many bytes were moved as the range has, and as many again at least. */
static bool is_again(struct finding_row *row, const struct finding_tally *t, const struct range *r)
{
	row->tally = *t;
	row->of = t->count;
	row->tally.bytes = again(r);
	return t->count >= CALLS_LEAST && row->tally.bytes >= AGAIN_LEAST &&
	       finding_share(row->tally.bytes, t->bytes, HALF);
}

static bool reread(const void *subject, const struct finding_context *c, struct finding_row *row)
{
	const struct file *f = subject;
	const struct finding_tally buffered = {
		f->reads.count - f->direct_reads.count, f->reads.bytes - f->direct_reads.bytes,
		f->reads.time - f->direct_reads.time,
	};

	(void)c;
	return is_again(row, &buffered, &f->read);
}

static bool direct_reread(const void *subject, const struct finding_context *c,
			  struct finding_row *row)
{
	const struct file *f = subject;

	(void)c;
	return is_again(row, &f->direct_reads, &f->direct_read);
}

static bool rewritten(const void *subject, const struct finding_context *c, struct finding_row *row)
{
	const struct file *f = subject;

	(void)c;
	return is_again(row, &f->writes, &f->written);
}

static bool many_opens(const void *subject, const struct finding_context *c,
		       struct finding_row *row)
{
	const struct file *f = subject;
	__u64 uses = f->reads.count + f->writes.count;

	(void)c;
	if (f->kind == IOT_KIND_DIR ||
	    !finding_is_most(row, &f->opens, f->opens.count, CALLS_LEAST, 0))
		return false;
	snprintf(row->note, sizeof(row->note), "%.1f reads and writes for each",
		 (double)uses / f->opens.count);
	return uses <= OPEN_USES * f->opens.count;
}

static bool eof_polling(const void *subject, const struct finding_context *c,
			struct finding_row *row)
{
	const struct file *f = subject;

	(void)c;
	return finding_is_most(row, &f->ends, f->reads.count, CALLS_LEAST, HALF);
}

static bool direct_misaligned(const void *subject, const struct finding_context *c,
			      struct finding_row *row)
{
	const struct file *f = subject;

	(void)c;
	return finding_is_most(row, &f->direct_refused, f->direct.count, MISALIGNED_LEAST, 0);
}

static bool write_stall(const void *subject, const struct finding_context *c,
			struct finding_row *row)
{
	const struct file *f = subject;

	(void)c;
	return finding_is_most(row, &f->stalls, f->writes.count, STALLS_LEAST, 0) &&
	       finding_share(f->stalls.time, f->writes.time, HALF);
}

static bool missing_files(const void *subject, const struct finding_context *c,
			  struct finding_row *row)
{
	const struct process *p = subject;

	(void)c;
	return finding_is_most(row, &p->missing, p->lookups.count, CALLS_LEAST, MISSING);
}

static bool failing_calls(const void *subject, const struct finding_context *c,
			  struct finding_row *row)
{
	const struct process *p = subject;

	(void)c;
	if (!finding_is_most(row, &p->failed, p->calls.count, CALLS_LEAST, MISSING))
		return false;
	if (strerrorname_np(p->error))
		snprintf(row->note, sizeof(row->note), "the last one with %s", strerrorname_np(p->error));
	return true;
}

static bool metadata_storm(const void *subject, const struct finding_context *c,
			   struct finding_row *row)
{
	const struct process *p = subject;

	return finding_is_most(row, &p->metadata, p->calls.count, METADATA_LEAST, METADATA) &&
	       c->duration && finding_share(p->metadata.time, c->duration, METADATA_TIME);
}

static const struct finding_rule rules[] = {
	{ "small-reads", FILES, FINDING_WARNING, "file", "reads", "moved less than 4 KiB",
	  "Read more at once: through a buffer (stdio), with readv(2), or by mmap(2).", .look = small_reads },
	{ "small-writes", FILES, FINDING_WARNING, "file", "writes", "moved less than 4 KiB",
	  "Gather them in a buffer (stdio), or write several with one writev(2).", .look = small_writes },
	{ "unaligned-writes", FILES, FINDING_WARNING, "file", "writes",
	  "changed a part of a page, away from where the write before ended",
	  "A page that is not in memory is read before a part of it is written. Write whole pages of 4 KiB, at multiples of 4 KiB.",
	  .look = unaligned_writes, .needs_all = true },
	{ "read-wait", FILES, FINDING_WARNING, "file", "reads",
	  "took longer than from memory, and together 10 % of the trace's time or more",
	  "What the program reads is not in memory. Give the page cache or the program's own cache more memory, read less, or use a faster device.",
	  .look = read_wait },
	{ "fsync-storm", FILES, FINDING_WARNING, "file", "fsyncs",
	  "together took 10 % of the trace's time or more",
	  "Make several changes durable with one fsync (group commit), or use a device with a protected write cache.",
	  .look = fsync_storm },
	{ "fsync-small", FILES, FINDING_WARNING, "file", "fsyncs", "followed less than 16 KiB of writes",
	  "The flush costs more than the data. Gather several changes before an fsync; fdatasync(2) on a preallocated file spares the journal.",
	  .look = fsync_small, .needs_all = true },
	{ "fsync-idle", FILES, FINDING_NOTICE, "file", "fsyncs",
	  "had nothing to do: nothing changed since the one before",
	  "Leave them out; each may still flush the device's cache.", .look = fsync_idle, .needs_all = true },
	{ "direct-reread", FILES, FINDING_WARNING, "file", "direct reads",
	  "were of ranges that had been read before; the bytes are the least that were read again",
	  "O_DIRECT bypasses the page cache. Keep the data in the program, or read without O_DIRECT.",
	  .look = direct_reread },
	{ "reread", FILES, FINDING_NOTICE, "file", "reads",
	  "were of ranges that had been read before; the bytes are the least that were read again",
	  "Keep what is needed again in the program, or map the file: each read copies it from the page cache, or reads it from the device if it was evicted.",
	  .look = reread },
	{ "rewritten", FILES, FINDING_NOTICE, "file", "writes",
	  "were of ranges that had been written before; the bytes are the least that were written again",
	  "Only the last data of a range counts. Change it in memory, and write it once.", .look = rewritten, .needs_all = true },
	{ "many-opens", FILES, FINDING_NOTICE, "file", "opens", "were of a file with little I/O for each",
	  "Keep the file open, and use pread(2) and pwrite(2).", .look = many_opens, .needs_all = true },
	{ "eof-polling", FILES, FINDING_NOTICE, "file", "reads", "returned 0: the end of the file",
	  "Wait for new data with inotify(7) instead of reading again.", .look = eof_polling },
	{ "direct-misaligned", FILES, FINDING_CRITICAL, "file", "direct reads and writes",
	  "failed with EINVAL, and offset or size is no multiple of 4 KiB",
	  "With O_DIRECT, align offset, size and memory to what statx(2) returns with STATX_DIOALIGN.",
	  .look = direct_misaligned },
	{ "write-stall", FILES, FINDING_WARNING, "file", "writes to the page cache",
	  "took 100 ms or more, and half of all their time",
	  "The kernel delays writers when too much is dirty, or a page is being written. Lower vm.dirty_background_bytes, write less at once (sync_file_range(2)), or find what else writes.",
	  .look = write_stall },
	{ "missing-files", PROCESSES, FINDING_NOTICE, "process", "lookups of a path",
	  "failed with ENOENT",
	  "Look at its search paths, and remember what is not there.", .look = missing_files },
	{ "failing-calls", PROCESSES, FINDING_WARNING, "process", "calls", "failed",
	  "It repeats calls that cannot succeed. iotracer stats --errors --by process,op shows which.",
	  .look = failing_calls },
	{ "metadata-storm", PROCESSES, FINDING_NOTICE, "process", "calls",
	  "only looked up or changed metadata, and took 5 % of the trace's time or more",
	  "Remember attributes and names instead of asking again; use fewer, larger files.",
	  .look = metadata_storm },
};

const struct finding_watch finding_fs = {
	.category = "fs", .sizes = { [FILES] = sizeof(struct file), [PROCESSES] = sizeof(struct process) },
	.add = add, .rules = rules, .nr_rules = sizeof(rules) / sizeof(rules[0]),
};
