// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/place.h"
#include "base/xalloc.h"
#include "machine/snapshot.h"
#include "record/store.h"
#include "trace/table_writer.h"
#include "trace/trace.h"

#define ROOT "/var/lib/iotracer"

char *store_root(void)
{
	const char *named = getenv("IOTRACER_TRACES");
	const char *data = getenv("XDG_DATA_HOME");
	const char *home = getenv("HOME");

	if (named && *named)
		return xstrdup(named);
	if (!geteuid())
		return xstrdup(ROOT);
	/* the specification says to ignore relative paths */
	if (data && *data == '/')
		return xasprintf("%s/iotracer", data);
	if (home && *home == '/')
		return xasprintf("%s/.local/share/iotracer", home);
	cli_say("there is no place for traces: set HOME, XDG_DATA_HOME or IOTRACER_TRACES, or name a directory");
	return NULL;
}

int store_make_root(const char *root)
{
	int fd = place_open(root, PLACE_ALL);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? CLI_FAILED : CLI_OK;
}

char *store_new_path(void)
{
	char *root = store_root(), *path;
	time_t now = time(NULL);
	unsigned int n = 1;
	char text[32];
	struct tm tm;

	if (!root || store_make_root(root)) {
		free(root);
		return NULL;
	}
	localtime_r(&now, &tm);
	strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &tm);
	path = xasprintf("%s/%s", root, text);
	while (!access(path, F_OK)) {
		free(path);
		path = xasprintf("%s/%s_%u", root, text, ++n);
	}
	free(root);
	return path;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

char *store_find(const char *name)
{
	char *root, *path;

	if (strchr(name, '/') || is_directory(name))
		return xstrdup(name);
	root = store_root();
	if (!root)
		return NULL;
	path = xasprintf("%s/%s", root, name);
	if (!is_directory(path)) {
		cli_say_of(name, "no such trace: it is neither a directory here nor in %s (iotracer traces list)",
			   root);
		free(path);
		path = NULL;
	}
	free(root);
	return path;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_trace(int root, const char *name)
{
	char *path = xasprintf("%s/%s", name, TRACE_METADATA);
	bool is = !faccessat(root, path, F_OK, 0);

	free(path);
	return is;
}

int store_list(struct store_names *names, const char *root, const char *prefix)
{
	DIR *dir = opendir(root);
	struct dirent *entry;
	size_t room = 0;
	int status;

	*names = (struct store_names){ 0 };
	if (!dir && errno == ENOENT)
		return CLI_OK;
	if (!dir) {
		status = errno == EACCES ? CLI_DENIED : CLI_FAILED;
		cli_say_of(root, "cannot be read: %s", strerror(errno));
		return status;
	}
	while ((entry = readdir(dir))) {
		if (*entry->d_name == '.' || strncmp(entry->d_name, prefix, strlen(prefix)) ||
		    !is_trace(dirfd(dir), entry->d_name))
			continue;
		if (names->nr == room) {
			room = room ? 2 * room : 64;
			names->at = xreallocarray(names->at, room, sizeof(*names->at));
		}
		names->at[names->nr++] = xstrdup(entry->d_name);
	}
	closedir(dir);
	if (names->nr)
		qsort(names->at, names->nr, sizeof(*names->at), compare);
	return CLI_OK;
}

void store_names_free(struct store_names *names)
{
	while (names->nr)
		free(names->at[--names->nr]);
	free(names->at);
	names->at = NULL;
}

void store_lock(int dir)
{
	/* waits only briefly, while check_is_recorded() holds the lock */
	while (flock(dir, LOCK_EX) && errno == EINTR)
		;
}

/* Whether recorders create files with this name. */
static bool is_ours(const char *name)
{
	const char *suffix = strrchr(name, '.');

	return !strcmp(name, TRACE_METADATA) || !strcmp(name, TRACE_SCHEMA) ||
	       !strcmp(name, "." TRACE_METADATA) || (suffix && !strcmp(suffix, ".iot"));
}

typedef void (*file_fn)(int dir, const char *name, void *data);

/* Calls @fn for each of these files in an open directory. */
static void for_each(DIR *dir, file_fn fn, void *data)
{
	struct dirent *entry;

	while ((entry = readdir(dir)))
		if (is_ours(entry->d_name))
			fn(dirfd(dir), entry->d_name, data);
}

/* Whether this is the name of a snapshot. That of an unfinished one begins with a dot. */
static bool is_snapshot(const char *name)
{
	name += *name == '.';
	return !strncmp(name, "fs_", 3) || !strncmp(name, "process_", 8) ||
	       !strncmp(name, "system_", 7) || !strncmp(name, "guest_", 6);
}

static bool is_of_snapshot(const char *name)
{
	return !strcmp(name, TABLE_DOCUMENT) || !strncmp(name, TABLE_PART, strlen(TABLE_PART));
}

static DIR *open_dir(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *opened = fd < 0 ? NULL : fdopendir(fd);

	if (!opened && fd >= 0)
		close(fd);
	return opened;
}

/*
 * Calls @fn for each file of each snapshot, and @after, unless it is NULL, for the directory
 * that it was in.
 */
static void walk_snapshots(DIR *trace, file_fn fn, file_fn after, void *data)
{
	DIR *all = open_dir(dirfd(trace), SNAPSHOT_DIRECTORY), *one;
	struct dirent *entry, *file;

	while (all && (entry = readdir(all))) {
		one = is_snapshot(entry->d_name) ? open_dir(dirfd(all), entry->d_name) : NULL;
		while (one && (file = readdir(one)))
			if (is_of_snapshot(file->d_name))
				fn(dirfd(one), file->d_name, data);
		if (one && after)
			after(dirfd(all), entry->d_name, data);
		if (one)
			closedir(one);
	}
	if (all && after)
		after(dirfd(trace), SNAPSHOT_DIRECTORY, data);
	if (all)
		closedir(all);
}

/* A directory with files that are not ours stays, and so does the trace's own directory. */
static void remove_directory(int dir, const char *name, void *data)
{
	(void)data;
	unlinkat(dir, name, AT_REMOVEDIR);
}

static void add_bytes(int dir, const char *name, void *data)
{
	unsigned long long *sum = data;
	struct stat st;

	if (!fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		*sum += 512ULL * st.st_blocks;
}

unsigned long long store_bytes(const char *directory)
{
	unsigned long long sum = 0;
	DIR *dir = opendir(directory);

	if (dir) {
		for_each(dir, add_bytes, &sum);
		walk_snapshots(dir, add_bytes, NULL, &sum);
		closedir(dir);
	}
	return sum;
}

static void delete_file(int dir, const char *name, void *data)
{
	int *err = data;

	if (!*err && strcmp(name, TRACE_METADATA) && unlinkat(dir, name, 0))
		*err = errno;
}

int store_remove(const char *directory)
{
	DIR *dir = open_dir(AT_FDCWD, directory);
	int err = dir ? 0 : errno;

	if (dir && faccessat(dirfd(dir), TRACE_METADATA, F_OK, 0)) {
		cli_say_of(directory, "is not a trace: it has no " TRACE_METADATA);
		closedir(dir);
		return CLI_FAILED;
	}
	if (dir) {
		walk_snapshots(dir, delete_file, remove_directory, &err);
		for_each(dir, delete_file, &err);
		if (!err && unlinkat(dirfd(dir), TRACE_METADATA, 0))
			err = errno;
		closedir(dir);
	}
	if (!err && rmdir(directory))
		err = errno;
	if (!err)
		return CLI_OK;
	if (err == ENOTEMPTY)
		cli_say_of(directory, "has files that no recorder made: they are left, the rest of the trace is deleted");
	else
		cli_say_of(directory, "cannot be removed: %s", strerror(err));
	return err == EACCES || err == EPERM ? CLI_DENIED : CLI_FAILED;
}
