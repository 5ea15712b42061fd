// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "machine/snapshot.h"
#include "machine/snapshot_check.h"
#include "trace/check.h"
#include "trace/table_writer.h"

#define CHUNK		(256 * 1024)
#define DOCUMENT_MAX	(64 << 20)	/* bytes of snapshot.json; larger ones are damaged */

static const struct kind {
	const char *name;	/* in the name of the directory and in metadata.json */
	const char *text;
} kinds[] = {
	{ "fs", "files" },
	{ "process", "processes" },
	{ "system", "the machine" },
	{ "guest", "disk images" },
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* One snapshot, while it is read. */
struct reading {
	char *path;		/* for messages */
	int dir;
	const struct kind *kind;
	json_t *document;
	bool damaged;
};

static void __attribute__((format(printf, 3, 4)))
damaged(struct reading *r, const char *file, const char *format, ...)
{
	char *path = file ? xasprintf("%s/%s", r->path, file) : xstrdup(r->path);
	char *text;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	cli_say_of(path, "%s", text ? text : "is damaged");
	r->damaged = true;
	free(text);
	free(path);
}

/* Opens a regular file of the snapshot. Returns -1 if it cannot be read, which was reported. */
static int open_file(struct reading *r, const char *name, struct stat *st)
{
	int fd = openat(r->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && !fstat(fd, st) && S_ISREG(st->st_mode))
		return fd;
	damaged(r, name, "cannot be read: %s", fd < 0 ? strerror(errno) : "it is not a regular file");
	if (fd >= 0)
		close(fd);
	return -1;
}

static void load_document(struct reading *r)
{
	json_error_t error = { 0 };
	struct stat st;
	int fd = open_file(r, TABLE_DOCUMENT, &st);

	if (fd < 0)
		return;
	if (st.st_size <= DOCUMENT_MAX)
		r->document = json_loadfd(fd, 0, &error);
	close(fd);
	if (!json_is_object(r->document))
		damaged(r, TABLE_DOCUMENT, "is damaged: %s", st.st_size > DOCUMENT_MAX ?
			"it is too large" : r->document ? "it is not a JSON object" : error.text);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static long long number_of(const json_t *object, const char *key)
{
	const json_t *number = json_object_get(object, key);

	return json_is_integer(number) ? json_integer_value(number) : -1;
}

/* The lines of a part. The first one has the names of the columns. */
struct lines {
	const char *header;
	size_t matched;		/* bytes of the first line that match the header */
	bool differs;
	long long nr;
};

static void count_lines(struct lines *l, const char *data, size_t size)
{
	const char *end = data + size, *newline;

	for (; !l->nr && data < end; data++) {
		if (*data == '\n') {
			l->differs |= l->header[l->matched] != '\0';
			l->nr++;
		} else if (l->differs || l->header[l->matched] != *data) {
			l->differs = true;
		} else {
			l->matched++;
		}
	}
	for (; (newline = memchr(data, '\n', end - data)); data = newline + 1)
		l->nr++;
}

/* Whether the whole compressed file can be read. Takes the descriptor. */
static bool read_lines(int fd, struct lines *l)
{
	gzFile file = gzdopen(fd, "rb");
	char *data;
	int n;

	if (!file) {
		close(fd);
		return false;
	}
	data = xreallocarray(NULL, CHUNK, 1);
	while ((n = gzread(file, data, CHUNK)) > 0)
		count_lines(l, data, n);
	free(data);
	/* gzread() also reads files that are not compressed */
	if (gzdirect(file))
		n = -1;
	return (gzclose(file) == Z_OK) & !n;
}

/* The writer uses no other names. */
static bool is_part(const char *name)
{
	return !strncmp(name, TABLE_PART, strlen(TABLE_PART)) && !strchr(name, '/');
}

/* Checks a part, and returns the number of rows that snapshot.json has for it. */
static long long check_part(struct reading *r, const json_t *part)
{
	const char *name = text_of(part, "file");
	long long rows = number_of(part, "rows"), bytes = number_of(part, "bytes");
	struct lines l = { .header = text_of(r->document, "columns") };
	struct stat st;
	int fd;

	if (!is_part(name) || rows < 0) {
		damaged(r, TABLE_DOCUMENT, "is damaged: the file or the number of rows of a part is missing");
		return 0;
	}
	fd = open_file(r, name, &st);
	if (fd < 0)
		return rows;
	if (st.st_size != bytes)
		damaged(r, name, "has %lld bytes, but %lld were written", (long long)st.st_size, bytes);
	if (!read_lines(fd, &l))
		damaged(r, name, "is damaged or truncated after %lld rows", l.nr ? l.nr - 1 : 0);
	else if (l.nr - 1 != rows)
		damaged(r, name, "has %lld rows, but %lld were written", l.nr - 1, rows);
	if (l.differs)
		damaged(r, name, "has other columns than " TABLE_DOCUMENT " names");
	return rows;
}

static void check_parts(struct reading *r)
{
	const json_t *parts = json_object_get(r->document, "parts"), *part;
	long long rows = 0;
	size_t i;

	/* the document itself contains the snapshot of the system */
	if (!strcmp(r->kind->name, "system"))
		return;
	if (!json_array_size(parts))
		damaged(r, TABLE_DOCUMENT, "is damaged: it has no parts");
	json_array_foreach(parts, i, part)
		rows += check_part(r, part);
	if (rows != number_of(r->document, "rows"))
		damaged(r, TABLE_DOCUMENT, "is damaged: its parts have %lld rows, but its own count is %lld", rows,
			number_of(r->document, "rows"));
}

static void check_document(struct reading *r)
{
	load_document(r);
	if (!json_is_object(r->document))
		return;
	if (strcmp(text_of(r->document, "snapshot"), r->kind->name))
		damaged(r, TABLE_DOCUMENT, "is damaged: it is not a snapshot of %s", r->kind->text);
	else if (number_of(r->document, "format") != TABLE_FORMAT)
		damaged(r, TABLE_DOCUMENT, "has format %lld, but this tool reads format %d",
			number_of(r->document, "format"), TABLE_FORMAT);
	else
		check_parts(r);
}

/* Whether a snapshot is whole; damage is reported. */
static bool check_one(int all, const char *path, const char *name, const struct kind *kind)
{
	struct reading r = { .path = xasprintf("%s/%s", path, name), .kind = kind };

	r.dir = openat(all, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r.dir >= 0)
		check_document(&r);
	else
		damaged(&r, NULL, "cannot be read: %s", strerror(errno));
	if (r.dir >= 0)
		close(r.dir);
	json_decref(r.document);
	free(r.path);
	return !r.damaged;
}

/* The kind of the snapshot with this name; NULL for other files. */
static const struct kind *kind_of(const char *name)
{
	size_t i, n;

	for (i = 0; i < NR_KINDS; i++) {
		n = strlen(kinds[i].name);
		if (!strncmp(name, kinds[i].name, n) && name[n] == '_')
			return &kinds[i];
	}
	return NULL;
}

/* Snapshots in the directory. */
struct found {
	unsigned long long nr[NR_KINDS];	/* whole or not */
	unsigned long long whole;
};

static void look_at(struct check *c, struct found *f, int all, const char *path, const char *name)
{
	const struct kind *kind = kind_of(name + (*name == '.'));

	if (!kind)
		return;
	if (*name == '.') {
		/* left by a killed recorder, or being written by a running one */
		if (!c->is_recorded)
			cli_say("%s/%s: is an unfinished snapshot, left by a recorder that was killed", path, name);
		return;
	}
	f->nr[kind - kinds]++;
	if (check_one(all, path, name, kind))
		f->whole++;
	else
		c->damaged = true;
}

static void look_at_all(struct check *c, struct found *f, const char *path)
{
	struct dirent **entries;
	int all = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int nr = all < 0 ? 0 : scandirat(all, ".", &entries, NULL, alphasort);
	int i;

	for (i = 0; i < nr; i++) {
		look_at(c, f, all, path, entries[i]->d_name);
		free(entries[i]);
	}
	if (nr > 0)
		free(entries);
	if (all >= 0)
		close(all);
}

/* Compares the numbers with those in metadata.json, if it has them. */
static void compare(struct check *c, const struct found *f, const json_t *made)
{
	long long nr;
	size_t i;

	for (i = 0; i < NR_KINDS; i++) {
		nr = c->metadata.damaged ? -1 : number_of(made, kinds[i].name);
		if (nr < 0 || (unsigned long long)nr == f->nr[i])
			continue;
		cli_say_of(c->trace, "has %llu snapshots of %s, but %lld were made", f->nr[i],
			   kinds[i].text, nr);
		c->damaged = true;
	}
}

void snapshot_check(struct check *c)
{
	const json_t *made = json_object_get(c->metadata.document, "snapshots");
	char *path = xasprintf("%s/" SNAPSHOT_DIRECTORY, c->trace);
	unsigned long long all = 0;
	struct found f = { .whole = 0 };
	size_t i;

	look_at_all(c, &f, path);
	compare(c, &f, made);
	for (i = 0; i < NR_KINDS; i++)
		all += f.nr[i];
	if (json_is_object(made) || all)
		printf("  %-12s%llu are whole\n", "snapshots", f.whole);
	free(path);
}
