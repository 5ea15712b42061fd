// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/cli.h"
#include "base/place.h"
#include "base/put.h"
#include "base/xalloc.h"
#include "trace/fleet.h"
#include "trace/output.h"
#include "trace/row.h"

#define LEVEL 1			/* of zstd: level 3 takes twice as long, and no less room */
#define OPEN_FILES 8		/* at most, each with a megabyte of room */
#define DAYS 1000		/* of one table: more cannot come from a clock that works */
#define NS_PER_S 1000000000ULL
#define DATE 10			/* "2026-11-21" */
#define NOT_OURS EOWNERDEAD	/* a directory belongs to another user; no call for files fails so */

struct fleet_file {
	const char *category;	/* NULL: the table _trace */
	char date[DATE + 1];
	__u64 day;
	__u64 turn;		/* when it was asked for last */
	bool made;		/* there is a hidden file */
	int fd;			/* -1: it is closed */
	ZSTD_CCtx *zstd;	/* these are there while it is open */
	char *data, *packed;
	size_t used;
};

/* --- names ------------------------------------------------------------------------ */

/* The value as Hive has it in the name of a directory: %XX for what could mean something else. */
static char *name_host(const char *host)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
	char *name, *out;

	if (!*host)
		return xstrdup("host=__HIVE_DEFAULT_PARTITION__");
	name = xreallocarray(NULL, 3 * strlen(host) + sizeof("host="), 1);
	out = stpcpy(name, "host=");
	for (; *host; host++) {
		if (strchr(plain, *host) || *host & 0x80)
			*out++ = *host;
		else
			out += sprintf(out, "%%%02X", (unsigned char)*host);
	}
	*out = '\0';
	return name;
}

static char *name_trace(const char *host, const struct wall_pair *begin)
{
	time_t seconds = begin->realtime / NS_PER_S;
	uLong sum = crc32_z(0, (const unsigned char *)host, strlen(host));
	char time[24];
	struct tm tm;

	sum = crc32_z(sum, (const unsigned char *)begin, sizeof(*begin));
	gmtime_r(&seconds, &tm);
	strftime(time, sizeof(time), "%Y%m%d_%H%M%S", &tm);
	return xasprintf("%s_%09llu_%08lx", time, begin->realtime % NS_PER_S, sum);
}

static char *name_hidden(const struct fleet *f)
{
	return xasprintf(".%s" FLEET_SUFFIX ".%d", f->id, (int)getpid());
}

/* As messages show it. */
static char *path_of(const struct fleet *f, const struct fleet_file *file)
{
	if (!file->category)
		return xasprintf("%s/" FLEET_TRACE "/%s" FLEET_SUFFIX, f->directory, f->id);
	return xasprintf("%s/" FLEET_CATEGORY "%s/%s/date=%s/%s" FLEET_SUFFIX, f->directory, file->category,
			 f->host, file->date, f->id);
}

static const char *why(int err)
{
	return err == NOT_OURS ? "a directory of the tree belongs to another user" : strerror(err);
}

static bool fail(const struct fleet *f, const struct fleet_file *file, int err)
{
	char *path = path_of(f, file);

	cli_say_of(path, "cannot be written: %s", why(err));
	free(path);
	return false;
}

/* --- directories ------------------------------------------------------------------ */

/* Returns a descriptor or a negative errno. Nobody else may exchange what is in the directory. */
static int enter_own(int parent, const char *name)
{
	int fd = place_enter(parent, name);
	struct stat st;

	if (fd < 0 || (!fstat(fd, &st) && st.st_uid == geteuid()))
		return fd;
	close(fd);
	return -NOT_OURS;
}

/* The directory of a file, as above. */
static int enter_all(const struct fleet *f, const struct fleet_file *file)
{
	char category[64], date[sizeof("date=") + DATE];
	const char *const names[] = { category, f->host, date };
	int dir = dup(f->traces);
	size_t i;

	if (!file->category)
		return dir < 0 ? -errno : dir;
	snprintf(category, sizeof(category), FLEET_CATEGORY "%s", file->category);
	snprintf(date, sizeof(date), "date=%s", file->date);
	close(dir);
	dir = dup(f->top);
	for (i = 0; i < sizeof(names) / sizeof(names[0]) && dir >= 0; i++) {
		int next = enter_own(dir, names[i]);

		close(dir);
		dir = next;
	}
	return dir;
}

static bool is_there(const struct fleet *f)
{
	char *name = xasprintf("%s" FLEET_SUFFIX, f->id);
	bool there = !faccessat(f->traces, name, F_OK, AT_SYMLINK_NOFOLLOW);

	free(name);
	if (there)
		cli_say_of(f->trace, "is in %s already: to export it again, delete its files first (find %s -name '%s.*' -delete)",
			   f->directory, f->directory, f->id);
	return there;
}

int fleet_open(struct fleet *f, const char *directory, const char *trace, const char *host,
	       const struct wall_pair *begin)
{
	*f = (struct fleet){ .directory = directory, .trace = trace, .top = -1, .traces = -1 };
	f->id = name_trace(host, begin);
	f->host = name_host(host);
	f->top = place_open(directory, PLACE_LAST);
	if (f->top < 0)
		return CLI_FAILED;
	f->traces = enter_own(f->top, FLEET_TRACE);
	if (f->traces < 0) {
		cli_say_of(directory, "cannot be used: " FLEET_TRACE " in it: %s", why(-f->traces));
		return CLI_FAILED;
	}
	return is_there(f) ? CLI_FAILED : CLI_OK;
}

/* --- files ------------------------------------------------------------------------ */

/* Compresses what is gathered. @how: whether the file is to be closed. */
static bool flush(const struct fleet *f, struct fleet_file *file, ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = { file->data, file->used, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { file->packed, OUTPUT_CHUNK, 0 };

		left = ZSTD_compressStream2(file->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return fail(f, file, ENOMEM);
		if (!output_write(file->fd, file->packed, out.pos))
			return fail(f, file, errno);
	} while (how == ZSTD_e_end ? left > 0 : in.pos < in.size);
	file->used = 0;
	return true;
}

static void let_go(struct fleet_file *file)
{
	ZSTD_freeCCtx(file->zstd);
	free(file->data);
	free(file->packed);
	file->zstd = NULL;
	file->data = NULL;
	file->packed = NULL;
}

static bool close_file(const struct fleet *f, struct fleet_file *file)
{
	bool good;

	if (file->fd < 0)
		return true;
	good = flush(f, file, ZSTD_e_end);
	if (close(file->fd) && good)
		good = fail(f, file, errno);
	file->fd = -1;
	let_go(file);
	return good;
}

/* A file that is opened again gets another frame of zstd behind those that it has. */
static bool open_file(const struct fleet *f, struct fleet_file *file)
{
	int how = file->made ? O_APPEND : O_CREAT | O_EXCL, dir = enter_all(f, file), err;
	char *name = name_hidden(f);

	if (dir >= 0 && !file->made)
		unlinkat(dir, name, 0); /* of a process that was killed, and had the same number */
	if (dir >= 0)
		file->fd = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | how, 0600);
	err = dir < 0 ? -dir : errno;
	if (dir >= 0)
		close(dir);
	free(name);
	if (file->fd < 0)
		return fail(f, file, err);
	file->made = true;
	file->zstd = xchecked(ZSTD_createCCtx());
	ZSTD_CCtx_setParameter(file->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(file->zstd, ZSTD_c_checksumFlag, 1);
	file->data = xreallocarray(NULL, OUTPUT_CHUNK + ROW_MAX, 1);
	file->packed = xreallocarray(NULL, OUTPUT_CHUNK, 1);
	return true;
}

/* Makes room for one more open file. */
static bool close_oldest(struct fleet *f)
{
	struct fleet_file *oldest = NULL;
	size_t i, nr = 0;

	for (i = f->of_table; i < f->nr; i++) {
		if (f->files[i]->fd < 0)
			continue;
		nr++;
		if (!oldest || f->files[i]->turn < oldest->turn)
			oldest = f->files[i];
	}
	return nr < OPEN_FILES || close_file(f, oldest);
}

static struct fleet_file *add_file(struct fleet *f, const char *category, __u64 day)
{
	struct fleet_file *file;
	char text[PUT_UTC];

	if (f->nr - f->of_table == DAYS) {
		cli_say_of(f->trace, "its events are of more than %d days: its clock was wrong, or it is damaged; export a part of it with --from and --to",
			   DAYS);
		return NULL;
	}
	xgrow(&f->files, f->nr + 1, sizeof(*f->files));
	file = xreallocarray(NULL, 1, sizeof(*file));
	*file = (struct fleet_file){ .category = category, .day = day, .fd = -1 };
	put_utc(text, day * (FLEET_NS_PER_DAY / NS_PER_S), 0);
	memcpy(file->date, text, DATE);
	f->files[f->nr++] = file;
	return file;
}

bool fleet_begin(struct fleet *f)
{
	bool good = true;

	for (; f->of_table < f->nr; f->of_table++)
		good &= close_file(f, f->files[f->of_table]);
	return good;
}

struct fleet_file *fleet_file(struct fleet *f, const char *category, __u64 day, bool *is_new)
{
	struct fleet_file *file = NULL;
	size_t i;

	for (i = f->of_table; i < f->nr && !file; i++)
		if (f->files[i]->day == day)
			file = f->files[i];
	*is_new = !file;
	if (!file)
		file = add_file(f, category, day);
	if (!file || (file->fd < 0 && (!close_oldest(f) || !open_file(f, file))))
		return NULL;
	file->turn = ++f->turn;
	return file;
}

char *fleet_room(struct fleet_file *file)
{
	return file->data + file->used;
}

bool fleet_put(struct fleet *f, struct fleet_file *file, const char *end)
{
	file->used = end - file->data;
	return file->used < OUTPUT_CHUNK || flush(f, file, ZSTD_e_continue);
}

/* --- names at last ---------------------------------------------------------------- */

/* The data is on disk before it has a name. Returns 0 or a negative errno. */
static int name_in(int dir, const char *hidden, const char *name, unsigned int how)
{
	int fd = openat(dir, hidden, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int err = fd < 0 || (fsync(fd) && errno != EINVAL) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	if (!err && renameat2(dir, hidden, dir, name, how) && (errno != EINVAL || renameat(dir, hidden, dir, name)))
		err = -errno;
	if (!err)
		fsync(dir); /* not every filesystem supports it */
	return err;
}

static bool give_name(const struct fleet *f, struct fleet_file *file)
{
	char *name = xasprintf("%s" FLEET_SUFFIX, f->id), *hidden = name_hidden(f);
	int dir = enter_all(f, file);
	/* without a row of _trace, a file is what an export has left that was stopped here */
	int err = dir < 0 ? dir : name_in(dir, hidden, name, file->category ? 0 : RENAME_NOREPLACE);

	if (dir >= 0)
		close(dir);
	file->made = err;
	free(hidden);
	free(name);
	return !err || fail(f, file, -err);
}

/* One export at a time: two of the same trace could mix their files. */
bool fleet_publish(struct fleet *f)
{
	bool good = fleet_begin(f);
	size_t i;

	if (good && flock(f->traces, LOCK_EX)) {
		cli_say_of(f->directory, "cannot be locked: %s", strerror(errno));
		good = false;
	}
	good = good && !is_there(f);
	for (i = 0; i < f->nr && good; i++)
		good = give_name(f, f->files[i]);
	flock(f->traces, LOCK_UN);
	return good;
}

static void remove_hidden(const struct fleet *f, const struct fleet_file *file)
{
	int dir = enter_all(f, file);
	char *name = name_hidden(f);

	if (dir >= 0) {
		unlinkat(dir, name, 0);
		close(dir);
	}
	free(name);
}

void fleet_close(struct fleet *f)
{
	size_t i;

	for (i = 0; i < f->nr; i++) {
		struct fleet_file *file = f->files[i];

		if (file->fd >= 0)
			close(file->fd);
		let_go(file);
		if (file->made)
			remove_hidden(f, file);
		free(file);
	}
	free(f->files);
	free(f->host);
	free(f->id);
	if (f->traces >= 0)
		close(f->traces);
	if (f->top >= 0)
		close(f->top);
}
