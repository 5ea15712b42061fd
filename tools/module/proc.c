// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/say.h"
#include "base/xalloc.h"
#include "module/proc.h"

const char *proc_root(void)
{
	const char *root = secure_getenv("IOTRACER_PROC");

	return root && *root ? root : "/proc/iotracer";
}

static char *path_of(const char *target, const char *file)
{
	if (target)
		return xasprintf("%s/%s/%s", proc_root(), target, file);
	return xasprintf("%s/%s", proc_root(), file);
}

int proc_open(const char *target, const char *file, int flags)
{
	char *path = path_of(target, file);
	int fd = path ? open(path, flags | O_CLOEXEC) : -1;

	if (fd < 0)
		fd = path ? -errno : -ENOMEM;
	free(path);
	return fd;
}

int proc_read(const char *target, const char *file, char **text)
{
	int fd = proc_open(target, file, O_RDONLY), err;

	*text = NULL;
	if (fd < 0)
		return fd;
	err = file_read_fd(fd, text);
	close(fd);
	return err;
}

int proc_command(int fd, const char *command)
{
	char *line = xasprintf("%s\n", command);
	size_t length = strlen(line);
	ssize_t n = write(fd, line, length);
	int err = n < 0 ? -errno : 0;

	free(line);
	if (!err && (size_t)n != length)
		err = -EIO;
	return err;
}

char *proc_refusal(const char *target, const char *command)
{
	char *text, *end;

	if (proc_read(target, "error", &text))
		return NULL;
	end = strchr(text, '\n');
	if (end && !strncmp(text, command, strcspn(command, " "))) {
		*end = '\0';
		return text;
	}
	free(text);
	return NULL;
}

#define NAME_BYTES 4096		/* room for an entry of the users or groups */

/* The name of a group, or its number if it has none; it is at @names, or in it. */
static const char *group_name(gid_t gid, char *names)
{
	struct group group, *found = NULL;

	if (!getgrgid_r(gid, &group, names, NAME_BYTES, &found) && found)
		return group.gr_name;
	snprintf(names, NAME_BYTES, "%u", gid);
	return names;
}

static const char *user_name(uid_t uid, char *names)
{
	struct passwd user, *found = NULL;

	if (!getpwuid_r(uid, &user, names, NAME_BYTES, &found) && found)
		return user.pw_name;
	snprintf(names, NAME_BYTES, "%u", uid);
	return names;
}

/*
 * Who may use the module's files, by stat(2): "membership of the group that
 * proc_gid names: x", or a user.
 */
static char *who_may(const char *path)
{
	const char *group = "", *user = "";
	char names[2][NAME_BYTES];
	struct stat st;

	if (stat(path, &st) && stat(proc_root(), &st))
		return xstrdup("membership of the group that proc_gid names");
	if (st.st_gid && st.st_mode & (S_IRGRP | S_IWGRP))
		group = group_name(st.st_gid, names[0]);
	if (st.st_uid)
		user = user_name(st.st_uid, names[1]);
	return xasprintf("membership of the group that proc_gid names%s%s%s%s", *group ? ": " : "", group,
			 *user ? ", or to be the user " : "", user);
}

static int explain_denied(const char *path)
{
	char *who = who_may(path);

	if (who)
		cli_say_of(path, "permission denied: needs CAP_PERFMON or CAP_SYS_ADMIN in the initial user namespace, or %s",
			   who);
	free(who);
	return CLI_DENIED;
}

static int explain_missing(const char *subject, const char *target, const char *path)
{
	struct stat st;

	if (stat(proc_root(), &st)) {
		cli_say("%s is not there: the module is not loaded (try: modprobe iotracer)",
			proc_root());
		return CLI_NO_MODULE;
	}
	if (target)
		cli_say_of(subject, "the target was removed");
	else
		cli_say("%s is not there: is %s really the module's directory?",
			path, proc_root());
	return CLI_FAILED;
}

int proc_explain(const char *subject, const char *target, const char *file, int err)
{
	char *path = path_of(target, file);
	int status = CLI_FAILED;

	if (!path)
		return CLI_FAILED;
	switch (err) {
	case -ENOENT:
	case -ENOTDIR:
		status = explain_missing(subject, target, path);
		break;
	case -EACCES:
	case -EPERM:
		status = explain_denied(path);
		break;
	case -EIO:
		cli_say_of(subject, "the target was removed while it was in use");
		break;
	default:
		cli_say_of(path, "%s", strerror(-err));
	}
	free(path);
	return status;
}
