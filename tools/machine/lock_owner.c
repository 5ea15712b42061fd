// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "machine/lock_owner.h"
#include "machine/processes.h"

#define FDINFO_SIZE	4096	/* bytes of a file below fdinfo that are read */
#define COMMAND_SIZE	100	/* bytes of a command line that are shown */

/*
 * Whether a descriptor holds a lock on the file. The kernel prints the locks of an open file in
 * fdinfo (fs/proc/fd.c, show_fd_locks()). The file itself is examined last, because it may be on a
 * server that does not answer.
 */
static bool has_lock(int infos, int fds, const char *number, const struct stat *file)
{
	char text[FDINFO_SIZE];
	struct stat st;

	return process_read(infos, number, text, sizeof(text)) > 0 && strstr(text, "\nlock:") &&
	       strstr(text, "FLOCK") && !fstatat(fds, number, &st, 0) &&
	       st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

static int open_below(int dir, pid_t pid, const char *name)
{
	char *path = xasprintf("%d/%s", pid, name);
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	free(path);
	return fd;
}

static bool is_holder(int proc, pid_t pid, const struct stat *file)
{
	int infos = open_below(proc, pid, "fdinfo"), fds = open_below(proc, pid, "fd");
	DIR *dir = infos < 0 ? NULL : fdopendir(infos);
	struct dirent *entry;
	bool found = false;

	while (!found && fds >= 0 && dir && (entry = readdir(dir)))
		found = isdigit((unsigned char)*entry->d_name) &&
			has_lock(infos, fds, entry->d_name, file);
	if (dir)
		closedir(dir);
	else if (infos >= 0)
		close(infos);
	if (fds >= 0)
		close(fds);
	return found;
}

pid_t lock_owner_find(int fd)
{
	struct process_list list;
	struct stat file;
	pid_t holder = 0;
	size_t i;

	if (process_list(&list) && !fstat(fd, &file))
		for (i = 0; !holder && i < list.nr; i++)
			if (is_holder(list.dir, list.at[i], &file))
				holder = list.at[i];
	process_list_free(&list);
	return holder;
}

char *lock_owner_text(pid_t pid)
{
	char *path = xasprintf("/proc/%d/cmdline", pid), text[COMMAND_SIZE];
	ssize_t length = process_read(AT_FDCWD, path, text, sizeof(text)), i;
	bool cut = length == sizeof(text) - 1;

	free(path);
	while (length > 0 && !text[length - 1])
		length--;
	if (length <= 0)
		return xasprintf("process %d", pid);
	for (i = 0; i < length; i++)
		text[i] = text[i] ? text[i] : ' ';
	return xasprintf("process %d (%s%s)", pid, text, cut ? "..." : "");
}
