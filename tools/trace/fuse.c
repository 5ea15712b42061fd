// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/cli.h"
#include "base/put.h"
#include "base/wall.h"
#include "base/xalloc.h"
#include "core/names.h"
#include "core/schema.h"
#include "trace/fuse.h"
#include "trace/paths.h"

#define NS_PER_S 1000000000ULL

/*
 * Flags with which the kernel asks for OPEN (fs/fuse/file.c): without O_CREAT, O_EXCL, O_NOCTTY
 * and O_CLOEXEC, and with O_LARGEFILE, which 64-bit kernels always set.
 */
#define NOT_PASSED (0x40 | 0x80 | 0x100 | 0x80000)
#define O_LARGEFILE_BIT 0x8000

#define ELSEWHERE "(elsewhere)"

#define HELD_NS NS_PER_S	/* a RELEASE waits for its CLOSE for this time of the trace */

/* How the arguments follow the path. */
enum arguments {
	NO_LINE, PATH_ONLY, SECOND, MODE, TYPE_MODE, MODE_FI, MODE_DEVICE, OWNER, OPEN_FLAGS, LENGTH,
	LENGTH_OFFSET, OFFSET_LENGTH,
};

struct operation {
	const char *name;
	enum arguments arguments;
};

static const struct operation operations[FUSE_OPS] = {
	[IOT_FS_READ] = { "READ", LENGTH_OFFSET },
	[IOT_FS_DIO_READ] = { "READ", LENGTH_OFFSET },
	[IOT_FS_WRITE] = { "WRITE", OFFSET_LENGTH },
	[IOT_FS_DIO_WRITE] = { "WRITE", OFFSET_LENGTH },
	[IOT_FS_OPEN] = { "OPEN", OPEN_FLAGS },
	[IOT_FS_CREATE] = { "CREATE", MODE_FI },
	[IOT_FS_CLOSE] = { "FLUSH", PATH_ONLY },
	[IOT_FS_RELEASE] = { "RELEASE", PATH_ONLY },
	[IOT_FS_FSYNC] = { "FSYNC", PATH_ONLY },
	[IOT_FS_FDATASYNC] = { "FSYNC", PATH_ONLY },
	[IOT_FS_GETATTR] = { "GETATTR", PATH_ONLY },
	[IOT_FS_CHMOD] = { "CHMOD", TYPE_MODE },
	[IOT_FS_CHOWN] = { "CHOWN", OWNER },
	[IOT_FS_UTIMENS] = { "UTIMENS", PATH_ONLY },
	[IOT_FS_TRUNCATE] = { "TRUNCATE", LENGTH },
	[IOT_FS_ACCESS] = { "ACCESS", MODE },
	[IOT_FS_READDIR] = { "READDIR", PATH_ONLY },
	[IOT_FS_READLINK] = { "READLINK", PATH_ONLY },
	[IOT_FS_UNLINK] = { "UNLINK", PATH_ONLY },
	[IOT_FS_RENAME] = { "RENAME", SECOND },
	[IOT_FS_LINK] = { "LINK", SECOND },
	[IOT_FS_SYMLINK] = { "SYMLINK", SECOND },
	[IOT_FS_MKDIR] = { "MKDIR", MODE },
	[IOT_FS_RMDIR] = { "RMDIR", PATH_ONLY },
	[IOT_FS_MKNOD] = { "MKNOD", MODE_DEVICE },
	[IOT_FS_STATFS] = { "STATFS", PATH_ONLY },
};

static const struct operation *operation_of(const struct iot_fs *fs)
{
	static const struct operation none;

	return fs->op < FUSE_OPS ? &operations[fs->op] : &none;
}

void fuse_add_directory(struct fuse_lines *f, char *path)
{
	size_t n = strlen(path);

	while (n && path[n - 1] == '/')
		path[--n] = '\0';
	f->below = xreallocarray(f->below, f->nr_below + 1, sizeof(*f->below));
	f->below[f->nr_below++] = (struct fuse_directory){ path, n };
}

void fuse_free(struct fuse_lines *f)
{
	size_t i;

	for (i = 0; i < f->nr_below; i++)
		free(f->below[i].path);
	free(f->below);
	f->below = NULL;
	f->nr_below = 0;
}

/* Returns what follows the directory in the path, "/" for the directory itself, or NULL. */
static const char *rest_below(const struct fuse_directory *d, const struct name *name)
{
	if (name->length < d->length || memcmp(name->text, d->path, d->length))
		return NULL;
	if (name->length == d->length)
		return "/";
	return name->text[d->length] == '/' ? name->text + d->length : NULL;
}

/* Whether a path is at or below the directory; *rest is then what follows it, or "/". */
static bool is_below(const struct fuse_lines *f, const struct name *name, const char **rest)
{
	const char *found = NULL;
	size_t i;

	for (i = 0; name && !found && i < f->nr_below; i++)
		found = rest_below(&f->below[i], name);
	if (found)
		*rest = found;
	return found;
}

/* YYYYMMDD-HHMMSS.ffffff, UTC */
static char *put_time(char *out, __u64 time)
{
	time_t second = time / NS_PER_S;
	char text[32];
	struct tm tm;

	gmtime_r(&second, &tm);
	out = put_bytes(out, text, strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &tm));
	*out++ = '.';
	return put_padded(out, time % NS_PER_S / 1000, 6);
}

static char *put_text(char *out, const char *text)
{
	return put_bytes(out, text, strlen(text));
}

static char *put_name(char *out, const char *key)
{
	return put_text(put_text(put_text(out, "; "), key), "=");
}

static char *put_key(char *out, const char *key, __u64 value)
{
	return put_u64(put_name(out, key), value);
}

/* An id of all ones leaves the owner as it is. */
static char *put_owner(char *out, const char *key, __u64 id)
{
	return put_s64(put_name(out, key), (__s64)id);
}

static char *put_second(const struct fuse_lines *f, char *out, const struct iot_fs *fs)
{
	const struct name *name = names_find(f->paths, fs->path2);
	const char *text = name ? ELSEWHERE : "?";

	/* the target of a symbolic link is any text */
	if (fs->op == IOT_FS_SYMLINK)
		return put_text(put_name(out, "target"), name ? name->text : "?");
	is_below(f, name, &text);
	return put_text(put_name(out, "new"), text);
}

/* The type of a file, as in st_mode. */
static __u32 type_of(const struct iot_fs *fs)
{
	switch (fs->kind) {
	case IOT_KIND_FILE: return S_IFREG;
	case IOT_KIND_DIR: return S_IFDIR;
	case IOT_KIND_PIPE: return S_IFIFO;
	case IOT_KIND_SOCKET: return S_IFSOCK;
	default: return 0;
	}
}

static __u32 open_flags(const struct iot_fs *fs)
{
	return (fs->flags & ~(NOT_PASSED | iot_names_common(IOT_EVENT_ID_FS))) | O_LARGEFILE_BIT;
}

static char *put_arguments(const struct fuse_lines *f, char *out, const struct iot_fs *fs)
{
	switch (operation_of(fs)->arguments) {
	case SECOND:
		return put_second(f, out, fs);
	case MODE:
		return put_key(out, "mode", fs->flags2);
	case TYPE_MODE:
		return put_key(out, "mode", type_of(fs) | fs->flags2);
	case MODE_FI:
		return put_text(put_key(out, "mode", S_IFREG | fs->flags2), "; fi=None");
	case MODE_DEVICE:
		return put_key(put_key(out, "mode", fs->flags2), "dev",
			       makedev(fs->device2 >> 20, fs->device2 & 0xfffff));
	case OWNER:
		return put_owner(put_owner(out, "uid", fs->offset), "gid", fs->requested);
	case OPEN_FLAGS:
		return put_key(out, "flags", open_flags(fs));
	case LENGTH:
		return put_key(out, "length", fs->requested);
	case LENGTH_OFFSET:
		return put_key(put_key(out, "length", fs->requested), "offset", fs->offset);
	case OFFSET_LENGTH:
		return put_key(put_key(out, "offset", fs->offset), "length_buf", fs->requested);
	default:
		return out;
	}
}

/* FUSE opens and releases a directory by other calls, of which IOTraceCollector logs none. */
static bool is_of_open_directory(const struct iot_fs *fs)
{
	return fs->kind == IOT_KIND_DIR && (fs->op == IOT_FS_OPEN || fs->op == IOT_FS_CLOSE ||
					    fs->op == IOT_FS_RELEASE);
}

/* Whether the event is of the tree. What is moved or linked into it is, too. */
static bool is_of_tree(const struct fuse_lines *f, const struct iot_fs *fs, const char **path)
{
	const struct name *name = names_find(f->paths, fs->path);
	const char *unused;

	if (is_below(f, name, path))
		return true;
	if (f->whole) {
		*path = name ? ELSEWHERE : "?";
		return true;
	}
	return (fs->op == IOT_FS_RENAME || fs->op == IOT_FS_LINK) &&
	       is_below(f, names_find(f->paths, fs->path2), &unused);
}

/* Writes the line of a record, if it has one. */
static char *put_line(struct fuse_lines *f, char *out, const struct iot_fs *fs)
{
	const struct operation *o = operation_of(fs);
	const char *path = ELSEWHERE;
	char op[16];

	if (!is_of_tree(f, fs, &path) || is_of_open_directory(fs))
		return out;
	if (!o->name) {
		f->without[fs->op % FUSE_OPS]++;
		return out;
	}
	if (*path == '/')
		f->inside++;
	else
		f->elsewhere++;
	out = put_time(out, wall_time(f->clock, fs->time));
	out = put_bytes(out, op, snprintf(op, sizeof(op), ": %8s: ", o->name));
	out = put_text(put_text(out, "path="), path);
	out = put_arguments(f, out, fs);
	*out++ = '\n';
	return out;
}

static __u64 end_of(const struct iot_fs *fs)
{
	return fs->time + fs->latency;
}

static void get_ready(struct fuse_lines *f, const struct iot_fs *fs)
{
	f->ready[f->nr_ready++] = *fs;
}

/* The record that waits longest, or that of a thread, is next. */
static void let_go(struct fuse_lines *f, size_t i)
{
	get_ready(f, &f->held[i].fs);
	f->nr_held--;
	memmove(&f->held[i], &f->held[i + 1], (f->nr_held - i) * sizeof(*f->held));
}

static bool is_close_of(const struct iot_fs *close, const struct iot_fs *release)
{
	return close->op == IOT_FS_CLOSE && close->inode == release->inode &&
	       close->device == release->device && close->time <= release->time;
}

/* Whether the last event of the thread was the CLOSE that this RELEASE follows. */
static bool is_closed(const struct fuse_lines *f, const struct iot_fs *release)
{
	const struct fuse_closed *c = &f->closed[release->tid % FUSE_TIDS];

	return c->tid == release->tid && c->device == release->device && c->inode == release->inode;
}

static void note_close(struct fuse_lines *f, const struct iot_fs *fs)
{
	f->closed[fs->tid % FUSE_TIDS] = fs->op == IOT_FS_CLOSE ?
		(struct fuse_closed){ fs->tid, fs->device, fs->inode } : (struct fuse_closed){ 0 };
}

static void hold(struct fuse_lines *f, const struct iot_fs *fs)
{
	if (f->nr_held == FUSE_HELD)
		let_go(f, 0);
	f->held[f->nr_held++] = (struct fuse_held){ *fs, f->batch };
}

void fuse_take(struct fuse_lines *f, const struct iot_fs *fs)
{
	size_t i;

	f->nr_ready = 0;
	f->next_ready = 0;
	if (iot_fs_is_network(fs))
		return; /* no filesystem is asked */
	for (i = 0; i < f->nr_held && f->held[i].fs.tid != fs->tid; i++)
		;
	if (i < f->nr_held && is_close_of(fs, &f->held[i].fs)) {
		get_ready(f, fs);
		let_go(f, i);
		return;
	}
	if (i < f->nr_held)
		let_go(f, i);
	while (f->nr_held && end_of(&f->held[0].fs) + HELD_NS < end_of(fs))
		let_go(f, 0);
	if (fs->op == IOT_FS_RELEASE && !is_closed(f, fs))
		hold(f, fs);
	else
		get_ready(f, fs);
	note_close(f, fs);
}

char *fuse_next(struct fuse_lines *f, char *out)
{
	char *end = out;

	while (f->next_ready < f->nr_ready && end == out)
		end = put_line(f, out, &f->ready[f->next_ready++]);
	return end;
}

void fuse_settle(struct fuse_lines *f, bool all)
{
	f->nr_ready = 0;
	f->next_ready = 0;
	while (f->nr_held && (all || f->held[0].batch != f->batch))
		let_go(f, 0);
	f->batch++;
}

void fuse_report(const struct fuse_lines *f, const char *trace)
{
	for (size_t op = 0; op < FUSE_OPS; op++) {
		const char *name = iot_names_op_name(IOT_EVENT_ID_FS, op);

		/* CLOSE is there instead of FLUSH; a filesystem gets no requests of the block layer */
		if (f->without[op] && op != IOT_FS_FLUSH && !iot_fs_is_block(op) && name)
			cli_say_of(trace, "%llu events %s have no line in this format",
				   (unsigned long long)f->without[op], name);
	}
}
