// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/new_file.h"
#include "base/place.h"
#include "base/progress.h"
#include "base/xalloc.h"

static int fail(const struct new_file *f, int err)
{
	const char *hint = "";

	progress_end();
	if (err == EEXIST)
		hint = f->replaces ? ": it is no regular file; name another one with -o" :
				     ": remove it first, or name another file with -o";
	cli_say_of(f->path, "cannot be written: %s%s", strerror(err), hint);
	return CLI_FAILED;
}

/* Whether what is in its place, if anything, hinders the file. */
static bool is_taken(const struct new_file *f)
{
	struct stat st;

	return !fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) && !(f->replaces && S_ISREG(st.st_mode));
}

int new_file_open(struct new_file *f, const char *path, bool replaces)
{
	int fd;

	*f = (struct new_file){ .path = path, .replaces = replaces, .dir = -1 };
	if (!strcmp(path, "-")) {
		f->stream = stdout;
		return CLI_OK;
	}
	if (!*path || path[strlen(path) - 1] == '/')
		return fail(f, EISDIR);
	f->dir = place_parent(path, &f->name);
	if (f->dir < 0)
		return CLI_FAILED;
	if (is_taken(f))
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

/* A filesystem that cannot rename without replacing has to trust the look that was taken before. */
static int give_name(const struct new_file *f)
{
	if (!f->replaces && !renameat2(f->dir, f->hidden, f->dir, f->name, RENAME_NOREPLACE))
		return 0;
	if (!f->replaces && errno != EINVAL)
		return errno;
	return renameat(f->dir, f->hidden, f->dir, f->name) ? errno : 0;
}

int new_file_publish(struct new_file *f)
{
	int err;

	errno = 0;
	if (fflush(f->stream) || ferror(f->stream))
		return fail(f, errno ? errno : EIO);
	if (!f->hidden)
		return CLI_OK;
	/* The data is on disk when the file gets its name. */
	err = fsync(fileno(f->stream)) && errno != EINVAL ? errno : give_name(f);
	if (err)
		return fail(f, err);
	free(f->hidden);
	f->hidden = NULL;
	return CLI_OK;
}

void new_file_close(struct new_file *f)
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
