// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/place.h"
#include "base/xalloc.h"

#define LINKS_MAX 40		/* as the kernel's */

struct walk {
	const char *what;	/* what is opened or made, for messages */
	bool made;
	enum place make;
	int dir;		/* O_PATH */
	bool theirs;		/* it is below what another user made in a directory of all */
	unsigned int links;
	char *rest;		/* names that are left */
};

static bool is_ours(uid_t uid)
{
	return uid == geteuid() || !uid;
}

static int fail(const struct walk *w, int err)
{
	cli_say_of(w->what, "cannot be %s: %s", w->made ? "made" : "opened", strerror(err));
	return -1;
}

/* Takes the first name of what is left; NULL if there is none. Allocated. */
static char *take_name(struct walk *w)
{
	char *begin = w->rest + strspn(w->rest, "/"), *name;
	size_t length = strcspn(begin, "/");

	if (!length)
		return NULL;
	name = xasprintf("%.*s", (int)length, begin);
	memmove(w->rest, begin + length, strlen(begin + length) + 1);
	return name;
}

static bool is_last(const struct walk *w)
{
	return !w->rest[strspn(w->rest, "/")];
}

static void enter(struct walk *w, int fd)
{
	close(w->dir);
	w->dir = fd;
}

static bool may_follow(const struct walk *w, const struct stat *link)
{
	struct stat dir;

	if (is_ours(link->st_uid))
		return true;
	return !w->theirs && !fstat(w->dir, &dir) &&
	       (!(dir.st_mode & S_IWOTH) || dir.st_uid == link->st_uid);
}

/* Puts what the link has before what is left. */
static int follow(struct walk *w, int link)
{
	char text[PATH_MAX], *rest;
	ssize_t n = readlinkat(link, "", text, sizeof(text));

	if (n < 0 || n == sizeof(text))
		return fail(w, n < 0 ? errno : ENAMETOOLONG);
	if (++w->links > LINKS_MAX)
		return fail(w, ELOOP);
	rest = xasprintf("%.*s/%s", (int)n, text, w->rest);
	free(w->rest);
	w->rest = rest;
	if (*text == '/')
		enter(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
	return 0;
}

static int open_name(struct walk *w, const char *name)
{
	int fd = openat(w->dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool make = w->make == PLACE_ALL || (w->make == PLACE_LAST && is_last(w));

	if (fd < 0 && errno == ENOENT && make && (!mkdirat(w->dir, name, 0700) || errno == EEXIST))
		fd = openat(w->dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOTDIR)
		fd = openat(w->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

static int step(struct walk *w, const char *name)
{
	int fd = open_name(w, name), status = 0;
	struct stat st, dir;

	if (fd < 0 || fstat(fd, &st) || fstat(w->dir, &dir)) {
		status = fail(w, errno);
	} else if (S_ISDIR(st.st_mode)) {
		w->theirs |= dir.st_mode & S_IWOTH && !is_ours(st.st_uid);
		enter(w, fd);
		return 0;
	} else if (!S_ISLNK(st.st_mode)) {
		status = fail(w, ENOTDIR);
	} else if (!may_follow(w, &st)) {
		cli_say_of(w->what, "%s is a symbolic link of another user, where others can write: it is not followed",
			   name);
		status = -1;
	} else {
		status = follow(w, fd);
	}
	if (fd >= 0)
		close(fd);
	return status;
}

/* Opens @path, whose text is freed. */
static int go(struct walk *w, char *path)
{
	int status = 0, fd = -1;
	char *name;

	w->rest = path;
	w->dir = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w->dir < 0)
		status = fail(w, errno);
	while (!status && (name = take_name(w))) {
		status = step(w, name);
		free(name);
	}
	if (!status)
		fd = openat(w->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!status && fd < 0)
		fail(w, errno);
	if (w->dir >= 0)
		close(w->dir);
	free(w->rest);
	return fd;
}

int place_open(const char *path, enum place make)
{
	struct walk w = { .what = path, .made = make != PLACE_THERE, .make = make };

	return go(&w, xstrdup(path));
}

int place_parent(const char *path, char **name)
{
	struct walk w = { .what = path, .made = true, .make = PLACE_THERE };
	char *parent = xstrdup(path), *slash;
	size_t length = strlen(parent);
	int fd;

	while (length > 1 && parent[length - 1] == '/')
		parent[--length] = '\0';
	slash = strrchr(parent, '/');
	*name = xstrdup(slash ? slash + 1 : parent);
	parent[slash ? slash + 1 - parent : 0] = '\0';
	fd = go(&w, parent);
	if (fd >= 0)
		return fd;
	free(*name);
	*name = NULL;
	return -1;
}

int place_enter(int parent, const char *name)
{
	int fd;

	if (mkdirat(parent, name, 0700) && errno != EEXIST)
		return -errno;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int place_make(int parent, const char *name)
{
	struct stat st;
	int fd;

	if (mkdirat(parent, name, 0700))
		return -errno;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ELOOP || errno == ENOTDIR ? -ESTALE : -errno;
	if (!fstat(fd, &st) && st.st_uid == geteuid())
		return fd;
	close(fd);
	return -ESTALE;
}
