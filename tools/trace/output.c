// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/cli.h"
#include "base/place.h"
#include "base/put.h"
#include "base/wall.h"
#include "base/xalloc.h"
#include "trace/output.h"

#define GZIP_MODE "wb3"	/* level 3: level 6 takes twice as long for a tenth less */

static bool fail(struct output *o, int err)
{
	if (!o->failed && o->path)
		cli_say_of(o->path, "cannot be written: %s", strerror(err));
	else if (!o->failed)
		cli_say("the output could not be written: %s", strerror(err));
	o->failed = true;
	return false;
}

void output_open(struct output *o)
{
	o->fd = -1;
	o->dir = -1;
	o->data = xreallocarray(NULL, OUTPUT_CHUNK + ROW_MAX, 1);
}

bool output_write(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		data += n;
		size -= n;
	}
	return true;
}

bool output_flush(struct output *o)
{
	bool good;

	if (!o->used || o->failed)
		return !o->failed;
	if (!o->compressed)
		good = output_write(o->fd, o->data, o->used) || fail(o, errno);
	else if (gzwrite(o->compressed, o->data, o->used) == (int)o->used)
		good = true;
	else
		good = fail(o, errno);
	o->used = 0;
	return good;
}

static void end_file(struct output *o)
{
	output_flush(o);
	if (o->compressed) {
		if (gzclose(o->compressed) != Z_OK)
			fail(o, errno);
	} else if (o->directory && o->fd >= 0 && close(o->fd)) {
		fail(o, errno);
	}
	o->compressed = NULL;
	o->fd = -1;
	free(o->path);
	o->path = NULL;
}

/* DIRECTORY/fs/fs_20261121_104322_123.csv.gz, in UTC; no two files have the same time. */
static char *name_file(struct output *o, __u64 time)
{
	__u64 ms = time / 1000000;
	char *name, *path;

	if (o->name)
		return xasprintf("%s/%s", o->directory, o->name);
	if (ms <= o->last)
		ms = o->last + 1;
	o->last = ms;
	name = wall_name(o->category, ms);
	path = xasprintf("%s/%s/%s.%s%s", o->directory, o->category, name, o->suffix,
			 o->gzip ? ".gz" : "");
	free(name);
	return path;
}

/* Opens DIRECTORY/CATEGORY, in which the files are, or DIRECTORY for a file that has a name. */
static bool make_directories(struct output *o)
{
	int top, dir;
	char *path;

	if (o->dir >= 0)
		return true;
	top = place_open(o->directory, PLACE_LAST);
	if (top < 0) {
		o->failed = true;
		return false;
	}
	if (o->name) {
		o->dir = top;
		return true;
	}
	dir = place_enter(top, o->category);
	close(top);
	if (dir < 0) {
		path = xasprintf("%s/%s", o->directory, o->category);
		cli_say_of(path, "cannot be made: %s", strerror(-dir));
		free(path);
		o->failed = true;
		return false;
	}
	o->dir = dir;
	return true;
}

/* It is for its owner alone, as the trace is that it was made of. */
static bool begin_file(struct output *o, __u64 time)
{
	if (!make_directories(o))
		return false;
	o->path = name_file(o, time);
	o->fd = openat(o->dir, strrchr(o->path, '/') + 1,
		       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (o->fd < 0 && errno == EEXIST) {
		cli_say_of(o->path, "is there already: export to another directory, or remove it");
		o->failed = true;
		return false;
	}
	return o->fd >= 0 || fail(o, errno);
}

bool output_begin(struct output *o, __u64 time)
{
	end_file(o);
	o->rows = 0;
	if (o->failed)
		return false;
	if (!o->directory)
		o->fd = STDOUT_FILENO;
	else if (!begin_file(o, time))
		return false;
	if (o->gzip) {
		o->compressed = gzdopen(o->directory ? o->fd : dup(o->fd), GZIP_MODE);
		if (!o->compressed)
			return fail(o, errno ? errno : ENOMEM);
		gzbuffer(o->compressed, OUTPUT_CHUNK);
	}
	return true;
}

bool output_begin_named(struct output *o, const char *name)
{
	o->name = name;
	return output_begin(o, 0);
}

bool output_bytes(struct output *o, const char *bytes, size_t length)
{
	return output_put(o, put_bytes(output_row(o), bytes, length));
}

bool output_text(struct output *o, const char *text)
{
	return output_bytes(o, text, strlen(text));
}

bool output_close(struct output *o)
{
	end_file(o);
	if (o->dir >= 0)
		close(o->dir);
	o->dir = -1;
	free(o->data);
	o->data = NULL;
	return !o->failed;
}
