// SPDX-License-Identifier: GPL-2.0
/*
 * Format fio: a log that fio replays (an iolog of version 3, fio 3.31 or later), in the order in which
 * the operations began. With a directory there are also a job file, and a log that makes the files as
 * large as the reads need them:
 *
 *	trace.fio	run "fio trace.fio" in the directory
 *	prepare.log	if anything was read
 *	trace.log
 *
 * From category fs the names are those of files, from category block those of disks. A replay must
 * not write to what was traced, and fio makes no directories. So all names are of files in the current
 * directory: /srv/a/one.db becomes srv!a!one.db. What fio could not read is written as %XX.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/put.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "trace/exporter.h"
#include "trace/intern.h"
#include "trace/paths.h"
#include "trace/sorter.h"

#define NAME_MOST	250		/* characters of a name: fio has 256 */
#define TAIL		60		/* characters of a path that is cut which are kept, %XX each at most */
#define FIRST_ROOM	1024
#define END_MOST	(1ULL << 62)	/* of a file */
#define LENGTH_MOST	(~0U)		/* fio has 32 bits */
#define SECTOR		512ULL
#define DEPTH_MOST	1024
#define NS_PER_US	1000

enum action { OPEN, CLOSE, READ, WRITE, SYNC, DATASYNC, TRIM };

static const char *const actions[] = {
	[OPEN] = " open\n", [CLOSE] = " close\n", [READ] = " read ", [WRITE] = " write ",
	[SYNC] = " sync ", [DATASYNC] = " datasync ", [TRIM] = " trim ",
};

struct item {
	struct sorter_key key;	/* of one group; the time is when it began */
	__u64 offset;
	__u32 length;
	__u32 file;
	enum action action;
};

struct file {
	__u64 size;		/* that the reads need */
	__u32 opens;		/* times that it is open now, as far as the log says */
	bool is_added;		/* the log has its line "add" */
};

struct state {
	struct sorter sorter;
	struct intern names;	/* as they are written */
	struct file *files;	/* by number of the name */
	size_t room;
	__u32 *by_path;		/* number of the name + 1, by place of the path's id; 0: not known */
	__u32 depth;		/* most requests that a device had at a time */
	__u64 first;		/* ns: when the first operation began */
};

static void open_fio(struct exporter *x)
{
	struct state *s = xreallocarray(NULL, 1, sizeof(*s));

	*s = (struct state){ .depth = 1 };
	sorter_open(&s->sorter, sizeof(struct item), 0);
	s->by_path = xreallocarray(NULL, x->paths->nr, sizeof(*s->by_path));
	memset(s->by_path, 0, x->paths->nr * sizeof(*s->by_path));
	x->state = s;
}

/* --- names ---------------------------------------------------------------------- */

static bool is_plain(char c)
{
	return c > ' ' && c < 127 && !strchr("!%\\", c);
}

/* Writes a path as one name, cut after NAME_MOST characters. Returns the length that it would have. */
static size_t put_name(char *out, const char *path, size_t length)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t used = 0, i;

	for (i = *path == '/'; i < length; i++) {
		unsigned char c = path[i];
		char text[3] = { c == '/' ? '!' : (char)c };
		size_t n = 1;

		if (c != '/' && !is_plain(c)) {
			text[0] = '%';
			text[1] = digits[c >> 4];
			text[2] = digits[c & 15];
			n = 3;
		}
		if (used + n <= NAME_MOST)
			memcpy(out + used, text, n);
		used += n;
	}
	return used;
}

/* Whether a name is that of a directory, or of standard input for fio, or empty. */
static bool is_special(const char *name, size_t length)
{
	return !length || (length == 1 && (*name == '.' || *name == '-')) ||
	       (length == 2 && !memcmp(name, "..", 2));
}

/*
 * The number of a path's name. One that is too long is cut, with a number in front that no other one
 * has. "%l" and "%." begin no %XX.
 */
static __u32 name_of(struct state *s, const char *path, size_t length)
{
	char name[NAME_MOST + 1];
	size_t used = put_name(name, path, length), head;

	if (used > NAME_MOST) {
		/* the path itself has a number of its own, too */
		head = snprintf(name, sizeof(name), "%%long%u!", intern_add(&s->names, path, length));
		used = head + put_name(name + head, path + length - TAIL, TAIL);
	} else if (is_special(name, used)) {
		memmove(name + 1, name, used++);
		name[0] = '%';
	}
	return intern_add(&s->names, name, used);
}

static void make_room(struct state *s)
{
	size_t room = s->names.nr < FIRST_ROOM ? FIRST_ROOM : 2 * s->names.nr;

	if (s->names.nr <= s->room)
		return;
	s->files = xreallocarray(s->files, room, sizeof(*s->files));
	memset(s->files + s->room, 0, (room - s->room) * sizeof(*s->files));
	s->room = room;
}

/* False if the path is not known. */
static bool find_path(const struct exporter *x, __u64 id, __u32 *file)
{
	const struct name *name = id ? names_find(x->paths, id) : NULL;
	struct state *s = x->state;
	__u32 *known;

	if (!name)
		return false;
	known = &s->by_path[id - x->paths->base];
	if (!*known) {
		*known = name_of(s, name->text, name->length) + 1;
		make_room(s);
	}
	*file = *known - 1;
	return true;
}

static __u32 find_disk(struct state *s, const struct iot_block *b)
{
	char *shown = text_show(b->disk, strnlen(b->disk, sizeof(b->disk)));
	__u32 file = name_of(s, shown, strlen(shown));

	make_room(s);
	free(shown);
	return file;
}

/* --- records -------------------------------------------------------------------- */

/* Sets the range of an item that has one. Returns why it cannot be, or NR_EXPORT_LEFT. */
static enum export_left set_range(struct state *s, struct item *item, __u64 offset, __s64 length)
{
	if (length <= 0)
		return LEFT_FAILED;
	if (length > LENGTH_MOST || offset > END_MOST - length)
		return LEFT_RANGE;
	item->offset = offset;
	item->length = length;
	if (item->action == READ && offset + length > s->files[item->file].size)
		s->files[item->file].size = offset + length;
	return NR_EXPORT_LEFT;
}

static bool add(struct exporter *x, struct item *item, bool has_range, __u64 offset, __s64 length)
{
	struct state *s = x->state;
	enum export_left why = has_range ? set_range(s, item, offset, length) : NR_EXPORT_LEFT;

	return why == NR_EXPORT_LEFT ? sorter_add(&s->sorter, item) : exporter_leave(x, why);
}

static bool take_fs(struct exporter *x, const struct iot_fs *fs)
{
	static const struct {
		bool has, has_range;
		enum action action;
	} ops[] = {
		[IOT_FS_READ] = { true, true, READ }, [IOT_FS_DIO_READ] = { true, true, READ },
		[IOT_FS_WRITE] = { true, true, WRITE }, [IOT_FS_DIO_WRITE] = { true, true, WRITE },
		[IOT_FS_OPEN] = { true, false, OPEN }, [IOT_FS_CREATE] = { true, false, OPEN },
		[IOT_FS_RELEASE] = { true, false, CLOSE },
		[IOT_FS_FSYNC] = { true, false, SYNC }, [IOT_FS_FDATASYNC] = { true, false, DATASYNC },
	};
	struct item item = { .key.time = fs->time };

	/* RELEASE stands for CLOSE: a file is open until its last descriptor is closed */
	if (fs->op == IOT_FS_CLOSE || fs->op == IOT_FS_FLUSH)
		return true;
	if (fs->op >= sizeof(ops) / sizeof(ops[0]) || !ops[fs->op].has)
		return exporter_leave_op(x, fs->op);
	if (fs->result < 0)
		return exporter_leave(x, LEFT_FAILED);
	if (fs->kind != IOT_KIND_FILE)
		return exporter_leave(x, LEFT_KIND);
	if (!find_path(x, fs->path, &item.file))
		return exporter_leave(x, LEFT_PATH);
	item.action = ops[fs->op].action;
	return add(x, &item, ops[fs->op].has_range, fs->offset, fs->result);
}

/* A filesystem flushes the cache of a disk by a write of no data. */
static bool is_flush(const struct iot_block *b)
{
	return !b->requested && b->flags & IOT_REQ_PREFLUSH;
}

static bool take_block(struct exporter *x, const struct iot_block *b)
{
	struct state *s = x->state;
	struct item item = { .key.time = b->time };

	switch (b->op) {
	case IOT_BLOCK_READ:
		item.action = READ;
		break;
	case IOT_BLOCK_WRITE:
		item.action = is_flush(b) ? SYNC : WRITE;
		break;
	case IOT_BLOCK_FLUSH:
		item.action = SYNC;
		break;
	case IOT_BLOCK_DISCARD:
		item.action = TRIM;
		break;
	default:
		return exporter_leave_op(x, b->op);
	}
	if (b->flags & IOT_REQ_EARLY)
		return exporter_leave(x, LEFT_EARLY);
	if (b->result < 0)
		return exporter_leave(x, LEFT_FAILED);
	if (b->sector > END_MOST / SECTOR || b->requested > END_MOST)
		return exporter_leave(x, LEFT_RANGE);
	if (b->depth > s->depth)
		s->depth = b->depth < DEPTH_MOST ? b->depth : DEPTH_MOST;
	item.file = find_disk(s, b);
	return add(x, &item, item.action != SYNC, b->sector * SECTOR, b->requested);
}

static bool take(struct exporter *x, const void *record)
{
	return x->event == IOT_EVENT_ID_FS ? take_fs(x, record) : take_block(x, record);
}

/* --- the log -------------------------------------------------------------------- */

/* "17 srv!a!one.db", the beginning of a line: 1 us is the time of the first, as fio takes 0 for none. */
static char *put_start(const struct state *s, char *out, __u64 time, __u32 file)
{
	size_t length;
	const char *name = intern_bytes(&s->names, file, &length);

	out = put_u64(out, (time - s->first) / NS_PER_US + 1);
	*out++ = ' ';
	return put_bytes(out, name, length);
}

static bool put_word(struct exporter *x, __u64 time, __u32 file, const char *word)
{
	char *out = put_start(x->state, output_row(x->output), time, file);

	return output_put(x->output, put_bytes(out, word, strlen(word)));
}

/* fio wants a file to be added, and to be open. */
static bool put_open(struct exporter *x, __u64 time, __u32 file)
{
	struct state *s = x->state;
	struct file *f = &s->files[file];

	if (!f->is_added && !put_word(x, time, file, " add\n"))
		return false;
	f->is_added = true;
	return f->opens++ || put_word(x, time, file, actions[OPEN]);
}

static bool put_range(struct exporter *x, __u64 time, __u32 file, enum action action, __u64 offset,
		      __u64 length)
{
	char *out = put_start(x->state, output_row(x->output), time, file);

	out = put_bytes(out, actions[action], strlen(actions[action]));
	out = put_u64(out, offset);
	*out++ = ' ';
	out = put_u64(out, length);
	*out++ = '\n';
	return output_put(x->output, out);
}

/* A file that was opened before the trace is opened when it is used first. */
static bool put_item(struct exporter *x, const struct item *i)
{
	struct state *s = x->state;
	struct file *f = &s->files[i->file];

	if (i->action == CLOSE)
		return !f->opens || --f->opens || put_word(x, i->key.time, i->file, actions[CLOSE]);
	if ((i->action == OPEN || !f->opens) && !put_open(x, i->key.time, i->file))
		return false;
	return i->action == OPEN ||
	       put_range(x, i->key.time, i->file, i->action, i->offset, i->length);
}

static bool put_log(struct exporter *x)
{
	struct state *s = x->state;
	const struct item *item;

	if (!output_begin_named(x->output, "trace.log") ||
	    !output_text(x->output, "fio version 3 iolog\n"))
		return false;
	item = sorter_next(&s->sorter);
	s->first = item ? item->key.time : 0;
	for (; item; item = sorter_next(&s->sorter))
		if (!put_item(x, item))
			return false;
	return !s->sorter.failed;
}

/* --- the other files ------------------------------------------------------------ */

/* Writes the last byte of what is read of each file. *any: there is one. */
static bool put_prepare(struct exporter *x, bool *any)
{
	struct state *s = x->state;
	__u64 time = s->first;
	__u32 i;

	for (i = 0; i < s->names.nr; i++) {
		if (!s->files[i].size)
			continue;
		if (!*any && (!output_begin_named(x->output, "prepare.log") ||
			      !output_text(x->output, "fio version 3 iolog\n")))
			return false;
		*any = true;
		if (!put_word(x, time, i, " add\n") || !put_word(x, time, i, actions[OPEN]) ||
		    !put_range(x, time, i, WRITE, s->files[i].size - 1, 1) ||
		    !put_word(x, time, i, actions[CLOSE]))
			return false;
	}
	return true;
}

static bool put_job(struct exporter *x, bool prepares)
{
	struct state *s = x->state;
	bool block = x->event == IOT_EVENT_ID_BLOCK, good;
	char *text;

	text = xasprintf("; made by iotracer export --format=fio: run \"fio trace.fio\" in this directory.\n"
			 "; It makes the files that the logs name beside them.\n"
			 "%s%s\n[replay]\n%sread_iolog=trace.log\n",
			 block ? "; replay_redirect=/dev/DISK replays on a disk, and destroys what it holds.\n" : "",
			 prepares ? "\n[prepare]\nioengine=psync\nread_iolog=prepare.log\n" : "",
			 prepares ? "stonewall\n" : "");
	good = output_begin_named(x->output, "trace.fio") && output_text(x->output, text);
	free(text);
	if (!good || !block)
		return good && output_text(x->output, "ioengine=psync\n");
	text = xasprintf("ioengine=libaio\ndirect=1\niodepth=%u\n", s->depth);
	good = output_text(x->output, text);
	free(text);
	return good;
}

static bool finish(struct exporter *x)
{
	struct state *s = x->state;
	bool prepares = false;

	if (!sorter_finish(&s->sorter) || !put_log(x))
		return false;
	return !x->output->directory || (put_prepare(x, &prepares) && put_job(x, prepares));
}

static void close_fio(struct exporter *x)
{
	struct state *s = x->state;

	sorter_close(&s->sorter);
	intern_free(&s->names);
	free(s->files);
	free(s->by_path);
	free(s);
}

const struct export_format export_fio = {
	.name = "fio",
	.events = { IOT_EVENT_ID_FS, IOT_EVENT_ID_BLOCK },
	.no_gzip = "fio does not read it",
	.open = open_fio,
	.take = take,
	.finish = finish,
	.close = close_fio,
};
