// SPDX-License-Identifier: GPL-2.0
/* The snapshot of files: a row for each inode of a directory tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/put.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "machine/snapshot.h"
#include "machine/walk.h"
#include "trace/paths.h"
#include "trace/row.h"
#include "trace/table_writer.h"

#define LOOK_ROWS 256	/* between two checks for an interruption */

static const char header[] =
	"snapshot_timestamp,path,size_bytes,ctime,btime,mtime,atime,kind,mode,nlink,uid,gid,inode,"
	"device,allocated_bytes,extents";

struct job {
	const struct snapshot *snapshot;
	struct table_writer sheet;
	struct walk walk;
	/*
	 * The escaped path of the last row, and its length up to the directory of each level: a row
	 * replaces only the last component.
	 */
	char *shown;
	size_t lengths[WALK_LEVELS + 1];
	char hidden[ANONYMOUS_PATH(WALK_PATH_MAX)];
};

/* Bytes of an escaped path: a byte may become four, a component of one byte 12 if it is hashed. */
#define SHOWN_MAX (ANONYMOUS_PATH(WALK_PATH_MAX) + 4)

/* Appends text at @at, escaped, and hashed in an anonymous snapshot. Returns the new length. */
static size_t append(struct job *j, size_t at, const char *text, size_t length)
{
	const struct anonymizer *a = j->snapshot->anonymizer;

	if (a) {
		length = anonymize_path(a, j->hidden, text, length);
		text = j->hidden;
	}
	return at + text_show_to(j->shown + at, text, length);
}

/* Builds the path of an entry in @shown. Returns its length. */
static size_t make_path(struct job *j, const struct walk_entry *e)
{
	size_t at = e->level ? j->lengths[e->level - 1] : 0;

	if (e->level && (e->level > 1 || at > 1))
		j->shown[at++] = '/';
	at = append(j, at, e->name, e->length);
	if (S_ISDIR(e->stat->stx_mode) && e->level < WALK_LEVELS)
		j->lengths[e->level] = at;
	return at;
}

/* The kinds by their names in traces, as in flags.def. */
static const char *kind_of(__u16 mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "FILE";
	case S_IFDIR:
		return "DIR";
	case S_IFLNK:
		return "SYMLINK";
	case S_IFIFO:
		return "PIPE";
	case S_IFSOCK:
		return "SOCKET";
	case S_IFCHR:
	case S_IFBLK:
		return "DEVICE";
	default:
		return "OTHER";
	}
}

static char *put_time(char *out, const struct statx_timestamp *t)
{
	out = put_utc(out, t->tv_sec, t->tv_nsec);
	*out++ = ',';
	return out;
}

static char *put_number(char *out, __u64 n)
{
	out = put_u64(out, n);
	*out++ = ',';
	return out;
}

static char *put_mode(char *out, __u16 mode)
{
	int shift;

	for (shift = 9; shift >= 0; shift -= 3)
		*out++ = '0' + (mode >> shift & 7);
	*out++ = ',';
	return out;
}

static char *put_times(char *out, const struct statx *st)
{
	out = put_time(out, &st->stx_ctime);
	if (st->stx_mask & STATX_BTIME)
		out = put_time(out, &st->stx_btime);
	else
		*out++ = ',';
	out = put_time(out, &st->stx_mtime);
	return put_time(out, &st->stx_atime);
}

static char *put_rest(char *out, const struct walk_entry *e)
{
	const struct statx *st = e->stat;
	const char *kind = kind_of(st->stx_mode);

	out = put_bytes(out, kind, strlen(kind));
	*out++ = ',';
	out = put_mode(out, st->stx_mode & 07777);
	out = put_number(out, st->stx_nlink);
	out = put_number(out, st->stx_uid);
	out = put_number(out, st->stx_gid);
	out = put_number(out, st->stx_ino);
	out = put_u64(out, e->major);
	*out++ = ':';
	out = put_number(out, e->minor);
	out = put_number(out, 512 * st->stx_blocks);
	return e->extents < 0 ? out : put_u64(out, e->extents);
}

static bool is_interrupted(const struct job *j)
{
	return j->snapshot->interrupted && j->snapshot->interrupted(j->snapshot->data);
}

static bool add_row(void *data, const struct walk_entry *e)
{
	static const struct row_printer csv = { .json = false };
	struct job *j = data;
	size_t length;
	char *out;

	if (j->sheet.rows % LOOK_ROWS == 0) {
		if (is_interrupted(j))
			return false;
		if (j->snapshot->shows_progress)
			progress_of(j->walk.root, j->sheet.rows, "files", j->sheet.rows, 0);
	}
	out = table_writer_row(&j->sheet);
	if (!out)
		return false;
	length = make_path(j, e);
	out = put_bytes(out, j->sheet.time, strlen(j->sheet.time));
	*out++ = ',';
	out = row_text(&csv, out, j->shown, length, false);
	*out++ = ',';
	out = put_number(out, e->stat->stx_size);
	out = put_times(out, e->stat);
	out = put_rest(out, e);
	return table_writer_put(&j->sheet, out);
}

/* Properties of the snapshot for snapshot.json. */
static json_t *describe(const struct job *j, const struct snapshot_fs *o)
{
	const struct walk *w = &j->walk;
	json_t *object = json_object(), *left_out = json_object();

	json_put(object, "root", json_stringn(j->shown, j->lengths[0]));
	json_put(object, "filesystem", json_shown(w->type));
	json_put(object, "depth", o->depth == ~0U ? json_null() : json_integer(o->depth));
	json_put(object, "cross_mounts", json_boolean(o->cross));
	json_put(object, "anonymized", json_boolean(j->snapshot->anonymizer));
	json_put(left_out, "vanished", json_integer(w->vanished));
	json_put(left_out, "further_links", json_integer(w->links));
	json_put(left_out, "mounts", json_integer(w->mounts));
	json_put(left_out, "pseudo_filesystems", json_integer(w->pseudo));
	json_put(object, "left_out", left_out);
	json_put(object, "untracked_links", json_integer(w->seen.untracked));
	json_put(object, "errors", json_integer(w->errors));
	return object;
}

/* Messages show names even with --anonymize: they go to the terminal, not to the snapshot. */
static int say_errors(const struct job *j)
{
	const struct walk *w = &j->walk;

	if (w->seen.untracked)
		cli_say_of(w->root, "has too many files with several links: %llu of them have a row for each link",
			   (unsigned long long)w->seen.untracked);
	if (!w->errors)
		return CLI_OK;
	cli_say_of(w->root, "%llu files or directories could not be read; the first: %s",
		   (unsigned long long)w->errors, w->first_error);
	return CLI_FAILED;
}

static int run(struct job *j, const struct snapshot_fs *o)
{
	j->shown = xreallocarray(NULL, SHOWN_MAX, 4);
	if (!table_writer_open(&j->sheet) || !walk_run(&j->walk) || is_interrupted(j) ||
	    !table_writer_finish(&j->sheet, describe(j, o)))
		return CLI_FAILED;
	progress_end();
	return say_errors(j);
}

int snapshot_fs(const struct snapshot *s, const struct snapshot_fs *o)
{
	struct job *j = xreallocarray(NULL, 1, sizeof(*j));
	int status = CLI_FAILED;

	memset(j, 0, sizeof(*j));
	j->snapshot = s;
	j->sheet = (struct table_writer){
		.in = s->in, .where = s->where, .kind = "fs", .header = header,
		.rotate = s->rotate, .dir = -1,
	};
	j->walk = (struct walk){
		.depth = o->depth, .cross = o->cross, .extents = o->extents,
		.entry = add_row, .data = j,
	};
	if (walk_open(&j->walk, o->root))
		status = run(j, o);
	table_writer_close(&j->sheet);
	walk_close(&j->walk);
	free(j->shown);
	free(j);
	return status;
}
