// SPDX-License-Identifier: GPL-2.0
/*
 * Tests preload this into the tool (LD_PRELOAD), to simulate what a plain file cannot do.
 *
 * TOOL_WRITE_ERROR=<errno>:<prefix>  a write that begins with the prefix fails
 * TOOL_WRITES=<file>                 each write to "…/control" is appended to the file
 *                                    instead, after its length
 * TOOL_TOGETHER=<n>:<command>        a write of the command to "…/control" waits until n
 *                                    threads write it, and fails after 10 seconds
 * TOOL_GONE=<file>                   at the end of "…/stream" and "…/log" read() gives
 *                                    EIO once <file> exists
 * TOOL_SYNCS=<file>                  each fdatasync() appends to the file how many bytes its file has
 * TOOL_SYNC_ERROR=<errno>            fdatasync() fails
 * TOOL_ENDLESS=<control>             the content of "…/stream" after its header is read
 *                                    again and again, until <control> ends with "stop"
 * TOOL_VANISH=<name>                 a file or empty directory of this name is removed when it is
 *                                    about to be looked at
 * TOOL_STOP=<name>                   the program stops when it looks at a file of this name
 * TOOL_CLOCK_BACK=<file>             once <file> exists, the time of day is an hour earlier
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HEADER 48	/* bytes of the header of a stream */

static int is_called(int fd, const char *name)
{
	size_t length = strlen(name);
	char link[64], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return 0;
	path[n] = '\0';
	return (size_t)n > length && !strcmp(path + n - length, name);
}

static int ends_with_stop(const char *file)
{
	FILE *f = fopen(file, "r");
	char last[5] = "";

	fseek(f, -5, SEEK_END);
	if (fread(last, 1, sizeof(last), f) != sizeof(last))
		last[0] = 0;
	fclose(f);
	return !memcmp(last, "stop\n", 5);
}

/* Return: false if too few other threads came in time. */
static int wait_for_others(unsigned int wanted)
{
	static atomic_uint here;
	int i;

	here++;
	for (i = 0; i < 1000 && here < wanted; i++)
		usleep(10000);
	return here >= wanted;
}

ssize_t write(int fd, const void *data, size_t size)
{
	ssize_t (*real)(int fd, const void *data, size_t size) = dlsym(RTLD_NEXT, "write");
	const char *error = getenv("TOOL_WRITE_ERROR");
	const char *writes = getenv("TOOL_WRITES");
	const char *prefix = error ? strchr(error, ':') + 1 : NULL;
	const char *together = getenv("TOOL_TOGETHER");
	const char *command = together ? strchr(together, ':') + 1 : NULL;

	if (together && size > strlen(command) && !memcmp(data, command, strlen(command)) &&
	    is_called(fd, "/control") && !wait_for_others(atoi(together))) {
		errno = EDEADLK;
		return -1;
	}
	if (prefix && size >= strlen(prefix) && !memcmp(data, prefix, strlen(prefix))) {
		errno = atoi(error);
		return -1;
	}
	if (writes && is_called(fd, "/control")) {
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
	const char *gone = getenv("TOOL_GONE"), *endless = getenv("TOOL_ENDLESS");
	ssize_t n = real(fd, data, size), more;

	if (!n && gone && !access(gone, F_OK) &&
	    (is_called(fd, "/stream") || is_called(fd, "/log"))) {
		errno = EIO;
		return -1;
	}
	if (n < 0 || (size_t)n == size || !endless || !is_called(fd, "/stream") ||
	    ends_with_stop(endless))
		return n;
	usleep(50000);
	lseek(fd, HEADER, SEEK_SET);
	more = real(fd, (char *)data + n, size - n);
	return more < 0 ? n : n + more;
}

int fdatasync(int fd)
{
	int (*real)(int fd) = dlsym(RTLD_NEXT, "fdatasync");
	const char *syncs = getenv("TOOL_SYNCS"), *error = getenv("TOOL_SYNC_ERROR");

	if (error) {
		errno = atoi(error);
		return -1;
	}
	if (syncs) {
		FILE *f = fopen(syncs, "a");
		struct stat st;

		fstat(fd, &st);
		fprintf(f, "%lld\n", (long long)st.st_size);
		fclose(f);
	}
	return real(fd);
}

/* A file is about to be looked at. */
static void look_at(int dir, const char *name)
{
	const char *vanish = getenv("TOOL_VANISH"), *stop = getenv("TOOL_STOP");

	if (vanish && !strcmp(name, vanish) && unlinkat(dir, name, 0))
		unlinkat(dir, name, AT_REMOVEDIR);
	if (stop && !strcmp(name, stop))
		raise(SIGSTOP);
}

int statx(int dir, const char *name, int flags, unsigned int mask, struct statx *st)
{
	int (*real)(int dir, const char *name, int flags, unsigned int mask, struct statx *st) =
		dlsym(RTLD_NEXT, "statx");

	look_at(dir, name);
	return real(dir, name, flags, mask, st);
}

/* The C library has no other way to openat2(2). */
long syscall(long number, ...)
{
	long (*real)(long number, ...) = dlsym(RTLD_NEXT, "syscall");
	long words[6];
	va_list args;
	int i;

	va_start(args, number);
	for (i = 0; i < 6; i++)
		words[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_openat2)
		look_at(words[0], (const char *)words[1]);
	return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	const char *file = getenv("TOOL_CLOCK_BACK");
	int result = syscall(SYS_clock_gettime, id, t);

	if (file && id == CLOCK_REALTIME && !access(file, F_OK))
		t->tv_sec -= 3600;
	return result;
}
