// SPDX-License-Identifier: GPL-2.0
/* Access to /proc/iotracer for test programs in C. Results are 0 or more, or -errno. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "proc.h"

/* Open, write once, close. A short write is an error, too: -EIO. */
int proc_write(const char *path, const char *text, size_t length)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;
	int ret = 0;

	if (fd < 0)
		return -errno;
	n = write(fd, text, length);
	if (n < 0)
		ret = -errno;
	else if ((size_t)n != length)
		ret = -EIO;
	close(fd);
	return ret;
}

/* Read at most size - 1 bytes, and add a NUL. */
ssize_t proc_read(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t done = 0;
	ssize_t n = 0;

	if (fd < 0)
		return -errno;
	while (done + 1 < size) {
		n = read(fd, buf + done, size - 1 - done);
		if (n <= 0)
			break;
		done += n;
	}
	if (n < 0)
		n = -errno;
	buf[done] = '\0';
	close(fd);
	return n < 0 ? n : (ssize_t)done;
}

/* Read a whole file, and add a NUL. Return: memory to be freed, or NULL with errno set. */
char *proc_slurp(const char *path, size_t *length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t room = 65536, done = 0;
	char *buf = malloc(room);
	ssize_t n = -1;

	while (fd >= 0 && buf) {
		n = read(fd, buf + done, room - 1 - done);
		if (n <= 0)
			break;
		done += n;
		if (done + 1 == room)
			buf = realloc(buf, room *= 2);
	}
	if (n < 0) {
		free(buf);
		buf = NULL;
	}
	if (fd >= 0)
		close(fd);
	if (buf)
		buf[done] = '\0';
	if (length)
		*length = done;
	return buf;
}

/* Replace each \ooo by its byte, in place. Return: the new length. */
size_t proc_unescape(char *text)
{
	const char *from = text;
	char *to = text;
	int n;

	while (*from) {
		unsigned int byte;

		if (*from == '\\' && sscanf(from + 1, "%3o%n", &byte, &n) == 1 && n == 3) {
			*to++ = byte;
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
	return to - text;
}

/* Get the directories of targets, as control lists them. Return: their number, or -errno. */
int proc_names(struct proc_name *names, int max)
{
	char *list = proc_slurp(PROC_CONTROL, NULL), *line, *next = list;
	int n = 0;

	if (!list)
		return -errno;
	while (n < max && (line = strsep(&next, "\n")) && *line) {
		line[strcspn(line, " ")] = '\0';
		proc_unescape(line);
		snprintf(names[n++].text, PROC_NAME, "%s", line);
	}
	free(list);
	return n;
}

/* Check seen = stored + overwritten + lost in each line of counts of a stats file. */
static int broken_lines(const char *path, char *stats)
{
	unsigned long long seen, stored, overwritten, lost;
	int broken = 0, lines = 0;
	char level[16], *line;

	while ((line = strsep(&stats, "\n"))) {
		if (sscanf(line, "%15s %llu %llu %llu %llu", level, &seen, &stored,
			   &overwritten, &lost) != 5)
			continue;
		lines++;
		if (seen == stored + overwritten + lost)
			continue;
		printf("%s: seen is not stored + overwritten + lost: %s\n", path, line);
		broken++;
	}
	if (lines == 3)
		return broken;
	printf("%s: %d levels instead of vfs, blk and total\n", path, lines);
	return broken + 1;
}

const char * const proc_categories[PROC_CATEGORIES] = {
#define IOT_CATEGORY(name, NAME, kinds, traits, meaning) PROC_DIR "/" #name,
#include "../../module/uapi/categories.def"
};

bool proc_is_category_log(const char *path)
{
	int i;

	for (i = 0; i < PROC_CATEGORIES; i++) {
		size_t n = strlen(proc_categories[i]);

		if (!strncmp(path, proc_categories[i], n) && !strcmp(path + n, "/log"))
			return true;
	}
	return false;
}

/* Return: 0, or the first error. */
int proc_stop_categories(void)
{
	char path[PROC_NAME];
	int i, ret, err = 0;

	for (i = 0; i < PROC_CATEGORIES; i++) {
		snprintf(path, sizeof(path), "%s/control", proc_categories[i]);
		ret = proc_write(path, "stop\n", 5);
		err = err ? err : ret;
	}
	return err;
}

/* As broken_lines(), for a stopped category, where each count has its own line. */
static int broken_category(const char *directory)
{
	unsigned long long seen, stored, overwritten, lost;
	char path[PROC_NAME], stats[4096];

	snprintf(path, sizeof(path), "%s/stats", directory);
	if (proc_read(path, stats, sizeof(stats)) < 0)
		printf("%s: cannot be read: %m\n", path);
	else if (sscanf(stats, "seen %llu stored %llu overwritten %llu lost %llu", &seen, &stored,
			&overwritten, &lost) != 4)
		printf("%s: not the counts that were expected: %s\n", path, stats);
	else if (seen != stored + overwritten + lost)
		printf("%s: seen is not stored + overwritten + lost: %s\n", path, stats);
	else
		return 0;
	return 1;
}

/*
 * Check seen = stored + overwritten + lost for all targets and categories. No process may
 * read or write the files of targets, and the categories have to be stopped. Each failure
 * is printed. Return: their number, or -errno.
 */
int proc_law(void)
{
	static struct proc_name names[4096];
	char path[2 * PROC_NAME], stats[4096];
	int i, broken = 0, n = proc_names(names, 4096);

	if (n < 0)
		return n;
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), PROC_DIR "/%.*s/stats", PROC_NAME, names[i].text);
		if (proc_read(path, stats, sizeof(stats)) < 0) {
			printf("%s: cannot be read: %m\n", path);
			broken++;
		} else {
			broken += broken_lines(path, stats);
		}
	}
	printf("the law was checked for %d targets\n", n);
	for (i = 0; i < PROC_CATEGORIES; i++)
		broken += broken_category(proc_categories[i]);
	return broken;
}
