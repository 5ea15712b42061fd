// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/absolute.h"
#include "base/cli.h"
#include "base/xalloc.h"

/* Entering the namespace that one is in makes its root the root of the process: setns(2). */
static bool leave_chroot(void)
{
	int ns = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	bool left = ns >= 0 && !setns(ns, CLONE_NEWNS);

	if (ns >= 0)
		close(ns);
	return left;
}

/* Runs in a child, whose root it changes. Writes the path, or an errno behind a NUL. */
static void tell(int fd, int dir)
{
	char path[PATH_MAX + sizeof(int)] = "";
	size_t length;
	int err;

	if (!leave_chroot() || fchdir(dir) || !getcwd(path, PATH_MAX) || *path != '/') {
		err = *path ? ENOENT : errno; /* the filesystem is not mounted any more */
		path[0] = '\0';
		memcpy(path + 1, &err, sizeof(err));
		length = 1 + sizeof(errno);
	} else {
		length = strlen(path);
	}
	_exit(write(fd, path, length) != (ssize_t)length);
}

/* Reads what the child tells. */
static char *take(int fd)
{
	char path[PATH_MAX + sizeof(int)];
	ssize_t n = read(fd, path, sizeof(path) - 1);

	if (n > 0 && *path)
		return xasprintf("%.*s", (int)n, path);
	errno = EIO;
	if (n == 1 + sizeof(errno))
		memcpy(&errno, path + 1, sizeof(errno));
	return NULL;
}

static char *ask_child(int dir)
{
	char *path = NULL;
	int fds[2], err;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return NULL;
	pid = fork();
	if (!pid)
		tell(fds[1], dir);
	err = errno;
	close(fds[1]);
	if (pid > 0) {
		path = take(fds[0]);
		err = errno;
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(fds[0]);
	errno = err;
	return path;
}

char *absolute_path(const char *directory)
{
	int dir = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC), err;
	char *path;

	if (dir < 0)
		return NULL;
	path = ask_child(dir);
	err = errno;
	close(dir);
	errno = err;
	return path;
}
