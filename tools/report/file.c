// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/place.h"
#include "base/progress.h"
#include "base/xalloc.h"
#include "report/file.h"
#include "report/page.h"

static int fail(const struct report_file *f, int err)
{
	progress_end();
	cli_say_of(f->path, "cannot be written: %s%s", strerror(err),
		   err == EEXIST ? ": remove it first, or name another file with -o" : "");
	return CLI_FAILED;
}

int report_file_open(struct report_file *f, const char *path)
{
	int fd;

	*f = (struct report_file){ .path = path, .dir = -1 };
	if (!strcmp(path, "-")) {
		f->stream = stdout;
		return CLI_OK;
	}
	if (!*path || path[strlen(path) - 1] == '/')
		return fail(f, EISDIR);
	f->dir = place_parent(path, &f->name);
	if (f->dir < 0)
		return CLI_FAILED;
	if (!faccessat(f->dir, f->name, F_OK, AT_SYMLINK_NOFOLLOW))
		return fail(f, EEXIST);
	f->hidden = xasprintf(".%s.%d", f->name, (int)getpid());
	fd = openat(f->dir, f->hidden, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	f->stream = fd < 0 ? NULL : fdopen(fd, "w");
	if (f->stream)
		return CLI_OK;
	free(f->hidden);
	f->hidden = NULL;
	return fail(f, errno);
}

/* The data is on disk when the file gets its name, so it is whole even after a crash. */
static int publish(struct report_file *f)
{
	int err = fsync(fileno(f->stream)) && errno != EINVAL ? errno : 0;

	if (!err && renameat2(f->dir, f->hidden, f->dir, f->name, RENAME_NOREPLACE) &&
	    (errno != EINVAL || renameat(f->dir, f->hidden, f->dir, f->name)))
		err = errno;
	if (err)
		return fail(f, err);
	free(f->hidden);
	f->hidden = NULL;
	return CLI_OK;
}

int report_file_write(struct report_file *f, const json_t *document)
{
	page_write(f->stream, document);
	errno = 0;
	if (fflush(f->stream) || ferror(f->stream))
		return fail(f, errno ? errno : EIO);
	return f->hidden ? publish(f) : CLI_OK;
}

void report_file_close(struct report_file *f)
{
	if (f->hidden)
		unlinkat(f->dir, f->hidden, 0);
	if (f->stream && f->stream != stdout)
		fclose(f->stream);
	if (f->dir >= 0)
		close(f->dir);
	free(f->hidden);
	free(f->name);
}
