// SPDX-License-Identifier: GPL-2.0
/*
 * For tests of the tool with LD_PRELOAD: what a plain file cannot do.
 *
 * TOOL_WRITE_ERROR=<errno>:<prefix>  a write that begins with prefix fails
 * TOOL_WRITES=<file>                 each write to "…/control" is appended, with
 *                                    its length in front
 * TOOL_GONE=<file>                   at the end of a file, read() gives EIO once
 *                                    <file> exists
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_control(int fd)
{
	char link[64], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return 0;
	path[n] = '\0';
	return n > 8 && !strcmp(path + n - 8, "/control");
}

ssize_t write(int fd, const void *data, size_t size)
{
	ssize_t (*real)(int fd, const void *data, size_t size) = dlsym(RTLD_NEXT, "write");
	const char *error = getenv("TOOL_WRITE_ERROR");
	const char *writes = getenv("TOOL_WRITES");
	const char *prefix = error ? strchr(error, ':') + 1 : NULL;

	if (prefix && size >= strlen(prefix) && !memcmp(data, prefix, strlen(prefix))) {
		errno = atoi(error);
		return -1;
	}
	if (writes && is_control(fd)) {
		FILE *f = fopen(writes, "a");

		fprintf(f, "%zu:", size);
		fwrite(data, 1, size, f);
		fclose(f);
		return size;
	}
	return real(fd, data, size);
}

ssize_t read(int fd, void *data, size_t size)
{
	ssize_t (*real)(int fd, void *data, size_t size) = dlsym(RTLD_NEXT, "read");
	const char *gone = getenv("TOOL_GONE");
	ssize_t n = real(fd, data, size);

	if (!n && gone && !access(gone, F_OK)) {
		errno = EIO;
		return -1;
	}
	return n;
}
