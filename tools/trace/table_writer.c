// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/put.h"
#include "base/xalloc.h"
#include "trace/output.h"
#include "trace/table_writer.h"

#define GZIP_MODE	"wb1"	/* level 1: rows have to be written at the rate of statx(2) */
#define CHUNK		(256 * 1024)
#define NAMES_MAX	1000	/* names that are tried, a millisecond apart */
#define NS_PER_MS	1000000

static bool fail(struct table_writer *s, const char *what, int err)
{
	if (!s->failed && s->in >= 0)
		cli_say("%s/%s: %s: %s", s->where, s->name ? s->name : s->kind, what, strerror(err));
	else if (!s->failed)
		cli_say("%s: %s", what, strerror(err));
	s->failed = true;
	return false;
}

/* Its name by its time, and the hidden one. */
static void name_it(struct table_writer *s, __u64 ms)
{
	free(s->name);
	free(s->hidden);
	s->name = wall_name(s->kind, ms);
	s->hidden = xasprintf(".%s.partial", s->name);
}

/* Makes a directory whose two names are both free. */
static bool make_directory(struct table_writer *s)
{
	__u64 ms = s->begin.realtime / NS_PER_MS;
	unsigned int i;
	int err = EEXIST;

	for (i = 0; err == EEXIST && i < NAMES_MAX; i++) {
		name_it(s, ms + i);
		if (!faccessat(s->in, s->name, F_OK, AT_SYMLINK_NOFOLLOW))
			continue;
		err = mkdirat(s->in, s->hidden, 0700) ? errno : 0;
	}
	if (err)
		return fail(s, "cannot be made", err);
	s->dir = openat(s->in, s->hidden, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return s->dir >= 0 || fail(s, "cannot be opened", errno);
}

static bool write_all(struct table_writer *s, int fd, const char *data, size_t size)
{
	return output_write(fd, data, size) || fail(s, "cannot be written", errno);
}

static bool flush_rows(struct table_writer *s)
{
	bool good = !s->failed;

	if (good && s->compressed && s->used)
		good = gzwrite(s->compressed, s->data, s->used) == (int)s->used ||
		       fail(s, "cannot be written", errno);
	else if (good)
		good = write_all(s, STDOUT_FILENO, s->data, s->used);
	s->used = 0;
	return good;
}

static char *part_name(unsigned int number)
{
	return xasprintf(TABLE_PART "%04u" TABLE_SUFFIX, number);
}

/* Writes the rest of a part, and waits until it is on the disk. */
static bool end_part(struct table_writer *s)
{
	char *name = part_name(s->parts);
	json_t *file = json_object();
	struct stat st = { 0 };
	int fd;

	flush_rows(s);
	if (gzclose(s->compressed) != Z_OK)
		fail(s, "cannot be written", errno);
	s->compressed = NULL;
	fd = openat(s->dir, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (fsync(fd) && errno != EINVAL) || fstat(fd, &st))
		fail(s, "cannot be written", errno);
	if (fd >= 0)
		close(fd);
	json_put(file, "file", json_string(name));
	json_put(file, "rows", json_integer(s->part_rows));
	json_put(file, "bytes", json_integer(st.st_size));
	json_add(s->files, file);
	free(name);
	return !s->failed;
}

static bool begin_part(struct table_writer *s)
{
	char *name = part_name(++s->parts);
	int fd = openat(s->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	free(name);
	if (fd < 0)
		return fail(s, "cannot be made", errno);
	s->compressed = gzdopen(fd, GZIP_MODE);
	if (!s->compressed) {
		close(fd);
		return fail(s, "cannot be made", ENOMEM);
	}
	gzbuffer(s->compressed, CHUNK);
	s->part_rows = 0;
	return true;
}

static void put_header(struct table_writer *s)
{
	char *end = put_bytes(s->data + s->used, s->header, strlen(s->header));

	*end++ = '\n';
	s->used = end - s->data;
}

bool table_writer_open(struct table_writer *s)
{
	s->dir = -1;
	s->begin = wall_now();
	*put_utc(s->time, s->begin.realtime / 1000000000, s->begin.realtime % 1000000000) = '\0';
	s->files = json_array();
	s->data = xreallocarray(NULL, CHUNK + TABLE_ROW_MAX, 1);
	if (s->in >= 0 && !make_directory(s))
		return false;
	if (!s->header)
		return true;
	if (s->in >= 0 && !begin_part(s))
		return false;
	put_header(s);
	return true;
}

char *table_writer_row(struct table_writer *s)
{
	if (s->rotate && s->compressed && s->part_rows == s->rotate) {
		if (!end_part(s) || !begin_part(s))
			return NULL;
		put_header(s);
	}
	return s->failed ? NULL : s->data + s->used;
}

bool table_writer_put(struct table_writer *s, char *end)
{
	*end++ = '\n';
	s->used = end - s->data;
	s->rows++;
	s->part_rows++;
	return s->used < CHUNK || flush_rows(s);
}

static void describe(struct table_writer *s, json_t *document)
{
	struct wall_pair end = wall_now();
	char text[PUT_UTC];

	*put_utc(text, end.realtime / 1000000000, end.realtime % 1000000000) = '\0';
	json_put(document, "snapshot", json_string(s->kind));
	json_put(document, "format", json_integer(TABLE_FORMAT));
	json_put(document, "tool_version", json_string(IOTRACER_VERSION));
	json_put(document, "begin", json_string(s->time));
	json_put(document, "begin_monotonic_ns", json_integer(s->begin.monotonic));
	json_put(document, "end", json_string(text));
	json_put(document, "end_monotonic_ns", json_integer(end.monotonic));
	if (!s->header)
		return;
	json_put(document, "columns", json_string(s->header));
	json_put(document, "rows", json_integer(s->rows));
	json_put(document, "parts", json_incref(s->files));
}

static bool write_document(struct table_writer *s, const json_t *document)
{
	char *text = json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	int fd = openat(s->dir, TABLE_DOCUMENT, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (!text || fd < 0)
		fail(s, "cannot be made", fd < 0 ? errno : ENOMEM);
	else
		write_all(s, fd, text, strlen(text));
	if (fd >= 0) {
		if (!s->failed)
			write_all(s, fd, "\n", 1);
		if ((fsync(fd) && errno != EINVAL) | close(fd))
			fail(s, "cannot be written", errno);
	}
	free(text);
	return !s->failed;
}

/* From here on it is whole, also after a crash of the machine. */
static bool give_name(struct table_writer *s)
{
	if (fsync(s->dir) && errno != EINVAL)
		return fail(s, "cannot be written", errno);
	if (renameat2(s->in, s->hidden, s->in, s->name, RENAME_NOREPLACE) &&
	    (errno != EINVAL || renameat(s->in, s->hidden, s->in, s->name)))
		return fail(s, "cannot be named", errno);
	close(s->dir);
	s->dir = -1;
	return (!fsync(s->in) || errno == EINVAL) || fail(s, "cannot be written", errno);
}

bool table_writer_finish(struct table_writer *s, json_t *document)
{
	if (s->in < 0 && s->header) {
		flush_rows(s);
	} else if (s->in < 0) {
		describe(s, document);
		json_print(json_incref(document));
	} else if (!s->failed) {
		if (s->header)
			end_part(s);
		describe(s, document);
		if (!s->failed && write_document(s, document))
			give_name(s);
	}
	json_decref(document);
	return !s->failed;
}

/* Deletes the directory under its hidden name: it has parts and a document. */
static void discard(struct table_writer *s)
{
	unsigned int i;
	char *name;

	for (i = 1; i <= s->parts; i++) {
		name = part_name(i);
		unlinkat(s->dir, name, 0);
		free(name);
	}
	unlinkat(s->dir, TABLE_DOCUMENT, 0);
	close(s->dir);
	s->dir = -1;
	unlinkat(s->in, s->hidden, AT_REMOVEDIR);
}

void table_writer_close(struct table_writer *s)
{
	if (s->compressed)
		gzclose(s->compressed);
	s->compressed = NULL;
	if (s->dir >= 0)
		discard(s);
	json_decref(s->files);
	free(s->hidden);
	free(s->name);
	free(s->data);
	s->files = NULL;
	s->hidden = NULL;
	s->name = NULL;
	s->data = NULL;
}
