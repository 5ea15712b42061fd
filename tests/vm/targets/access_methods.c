// SPDX-License-Identifier: GPL-2.0
/*
 * access_methods TARGETDIR FILE OTHER: read and write a file in every way that there
 * is, and check the log.
 *
 * TARGETDIR is FILE's directory in /proc/iotracer. OTHER is a file on the same
 * filesystem that is not traced. For each way, the log is reset and the operation is
 * done; then the log must have exactly the reads and writes that the operation
 * consists of, with the bytes that it reported as moved. Prints a line for each way.
 * Exits with 1 if any was wrong.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <libaio.h>
#include <liburing.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BLOCK = 4096, SIZE = 16 * BLOCK };

struct events {
	int ops;
	long long bytes;
	long long address;	/* of the first */
};

static const char *target;
static const char *file;
static const char *other;
static char *buf;		/* SIZE bytes, aligned */
static int failures;

static void control(const char *word)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/control", target);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, word, strlen(word)) != (ssize_t)strlen(word))
		err(2, "%s: %s", path, word);
	close(fd);
}

static void count(char op, struct events *e)
{
	char path[512], kind, level[8];
	long long address, size;
	FILE *log;

	memset(e, 0, sizeof(*e));
	snprintf(path, sizeof(path), "%s/log", target);
	log = fopen(path, "r");
	if (!log)
		err(2, "%s", path);
	while (fscanf(log, "%*[^;];%c;%lld;%lld;%3s;%*[^\n]\n", &kind, &address,
		      &size, level) == 4) {
		if (kind != op || strcmp(level, "VFS"))
			continue;
		if (!e->ops++)
			e->address = address;
		e->bytes += size;
	}
	fclose(log);
}

static void show_log(void)
{
	char path[512], line[256];
	FILE *log;

	snprintf(path, sizeof(path), "%s/log", target);
	log = fopen(path, "r");
	if (!log)
		err(2, "%s", path);
	while (fgets(line, sizeof(line), log))
		printf("   %s", line);
	fclose(log);
}

/* The log since the last reset must have this many reads, bytes, writes and bytes. */
static void expect(const char *way, int reads, long long in, int writes, long long out)
{
	struct events r, w;
	bool ok;

	count('R', &r);
	count('W', &w);
	ok = r.ops == reads && r.bytes == in && w.ops == writes && w.bytes == out;
	printf("%s %s: %d reads of %lld bytes, %d writes of %lld bytes",
	       ok ? "ok" : "WRONG", way, r.ops, r.bytes, w.ops, w.bytes);
	if (!ok)
		printf(" (should be %d of %lld, %d of %lld)", reads, in, writes, out);
	printf("\n");
	if (!ok)
		show_log();
	failures += !ok;
	control("reset");
}

static int open_file(const char *path, int flags)
{
	int fd = open(path, flags, 0644);

	if (fd < 0)
		err(2, "%s", path);
	return fd;
}

/* Fill the file with SIZE bytes again. @cold: drop them from the page cache. */
static void prepare(bool cold)
{
	int fd = open_file(file, O_RDWR | O_CREAT | O_TRUNC);

	memset(buf, 'x', SIZE);
	if (pwrite(fd, buf, SIZE, 0) != SIZE || fsync(fd))
		err(2, "%s", file);
	if (cold)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
	control("reset");
}

static void must(const char *what, long long got, long long want)
{
	if (got == want)
		return;
	printf("WRONG %s returned %lld, not %lld (%s)\n", what, got, want, strerror(errno));
	failures++;
}

static void plain_reads(int fd)
{
	void *nowhere = (void *)strtoul("8", NULL, 0);	/* not a constant, or cc warns */
	struct iovec iov[2] = { { buf, BLOCK / 2 }, { buf + BLOCK, BLOCK / 2 } };

	must("read", read(fd, buf, BLOCK), BLOCK);
	expect("read", 1, BLOCK, 0, 0);
	must("pread", pread(fd, buf, BLOCK, 2 * BLOCK), BLOCK);
	expect("pread", 1, BLOCK, 0, 0);
	must("readv", readv(fd, iov, 2), BLOCK);
	expect("readv", 1, BLOCK, 0, 0);
	must("preadv", preadv(fd, iov, 2, 0), BLOCK);
	expect("preadv", 1, BLOCK, 0, 0);
	must("preadv2", preadv2(fd, iov, 2, 0, 0), BLOCK);
	expect("preadv2", 1, BLOCK, 0, 0);
	must("short read", pread(fd, buf, BLOCK, SIZE - 10), 10);
	expect("short read", 1, 10, 0, 0);
	must("read at the end", pread(fd, buf, BLOCK, SIZE), 0);
	expect("read at the end", 1, 0, 0, 0);
	must("read to nowhere", pread(fd, nowhere, BLOCK, 0), -1);
	expect("read that fails", 1, 0, 0, 0);
}

static void nowait_read(int fd)
{
	struct iovec iov = { buf, BLOCK };
	ssize_t n = preadv2(fd, &iov, 1, 0, RWF_NOWAIT);

	if (n < 0 && errno == EOPNOTSUPP)	/* refused before it gets to the filesystem */
		expect("RWF_NOWAIT, not supported", 0, 0, 0, 0);
	else
		expect("RWF_NOWAIT", 1, n > 0 ? n : 0, 0, 0);
}

static void plain_writes(int fd)
{
	struct iovec iov[2] = { { buf, BLOCK / 2 }, { buf + BLOCK, BLOCK / 2 } };
	struct rlimit limit = { SIZE, RLIM_INFINITY }, none = { RLIM_INFINITY, RLIM_INFINITY };

	must("write", write(fd, buf, BLOCK), BLOCK);
	expect("write", 0, 0, 1, BLOCK);
	must("pwrite", pwrite(fd, buf, BLOCK, 2 * BLOCK), BLOCK);
	expect("pwrite", 0, 0, 1, BLOCK);
	must("writev", writev(fd, iov, 2), BLOCK);
	expect("writev", 0, 0, 1, BLOCK);
	must("pwritev", pwritev(fd, iov, 2, 0), BLOCK);
	expect("pwritev", 0, 0, 1, BLOCK);
	must("pwritev2", pwritev2(fd, iov, 2, 0, RWF_DSYNC), BLOCK);
	expect("pwritev2 RWF_DSYNC", 0, 0, 1, BLOCK);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	must("write past a limit", pwrite(fd, buf, BLOCK, SIZE), -1);
	setrlimit(RLIMIT_FSIZE, &none);
	expect("write that fails", 0, 0, 1, 0);
}

static void append(void)
{
	int fd = open_file(file, O_WRONLY | O_APPEND);
	struct events w;

	must("append", write(fd, buf, 100), 100);
	count('W', &w);
	must("address of an append", w.address, SIZE);
	expect("append", 0, 0, 1, 100);
	close(fd);
}

static void kernel_aio(int fd, const char *name)
{
	struct io_event event;
	struct iocb cb, *list[] = { &cb };
	io_context_t ctx = 0;
	char way[64];

	if (io_setup(1, &ctx))
		errx(2, "io_setup");
	io_prep_pread(&cb, fd, buf, BLOCK, BLOCK);
	must("io_submit", io_submit(ctx, 1, list), 1);
	must("io_getevents", io_getevents(ctx, 1, 1, &event, NULL), 1);
	snprintf(way, sizeof(way), "libaio read %s", name);
	expect(way, 1, BLOCK, 0, 0);
	io_prep_pwrite(&cb, fd, buf, BLOCK, BLOCK);
	must("io_submit", io_submit(ctx, 1, list), 1);
	must("io_getevents", io_getevents(ctx, 1, 1, &event, NULL), 1);
	snprintf(way, sizeof(way), "libaio write %s", name);
	expect(way, 0, 0, 1, BLOCK);
	io_destroy(ctx);
}

static void posix_aio(int fd)
{
	struct aiocb cb = { .aio_fildes = fd, .aio_buf = buf, .aio_nbytes = BLOCK };
	const struct aiocb *list[] = { &cb };

	aio_read(&cb);
	aio_suspend(list, 1, NULL);
	must("aio_read", aio_return(&cb), BLOCK);
	expect("POSIX AIO read", 1, BLOCK, 0, 0);
	aio_write(&cb);
	aio_suspend(list, 1, NULL);
	must("aio_write", aio_return(&cb), BLOCK);
	expect("POSIX AIO write", 0, 0, 1, BLOCK);
}

/* Do one request. Return: its result */
static int uring_one(struct io_uring *ring, bool writing, int fd, unsigned int len,
		     off_t at, unsigned int flags)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	struct io_uring_cqe *cqe;
	int res;

	if (writing)
		io_uring_prep_write(sqe, fd, buf, len, at);
	else
		io_uring_prep_read(sqe, fd, buf, len, at);
	sqe->flags |= flags;
	io_uring_submit(ring);
	if (io_uring_wait_cqe(ring, &cqe))
		errx(2, "io_uring_wait_cqe");
	res = cqe->res;
	io_uring_cqe_seen(ring, cqe);
	return res;
}

static void uring(const char *name, unsigned int setup, unsigned int flags)
{
	struct io_uring_params params = { .flags = setup, .sq_thread_idle = 100 };
	struct io_uring ring;
	char way[96];
	int fd;

	if (io_uring_queue_init_params(4, &ring, &params))
		errx(2, "io_uring_setup");
	prepare(true);
	fd = open_file(file, O_RDWR);
	must("cold read", uring_one(&ring, false, fd, SIZE, 0, flags), SIZE);
	snprintf(way, sizeof(way), "io_uring %s cold read", name);
	expect(way, 1, SIZE, 0, 0);
	must("warm read", uring_one(&ring, false, fd, BLOCK, BLOCK, flags), BLOCK);
	snprintf(way, sizeof(way), "io_uring %s warm read", name);
	expect(way, 1, BLOCK, 0, 0);
	/* if only a part is in the cache, the kernel stops after it and goes on */
	prepare(true);
	must("warming", pread(fd, buf, BLOCK, 0), BLOCK);
	posix_fadvise(fd, BLOCK, 0, POSIX_FADV_DONTNEED);
	control("reset");
	must("mixed read", uring_one(&ring, false, fd, SIZE, 0, flags), SIZE);
	snprintf(way, sizeof(way), "io_uring %s read of a half cached file", name);
	expect(way, 1, SIZE, 0, 0);
	must("short read", uring_one(&ring, false, fd, 2 * BLOCK, SIZE - 100, flags), 100);
	snprintf(way, sizeof(way), "io_uring %s read over the end", name);
	expect(way, 1, 100, 0, 0);
	must("write", uring_one(&ring, true, fd, 2 * BLOCK, BLOCK, flags), 2 * BLOCK);
	snprintf(way, sizeof(way), "io_uring %s write", name);
	expect(way, 0, 0, 1, 2 * BLOCK);
	close(fd);
	io_uring_queue_exit(&ring);
	control("reset");
}

static void pipes(int fd)
{
	int null = open_file("/dev/null", O_WRONLY);
	off_t at = 0;
	loff_t pos = 0;
	int p[2];

	must("sendfile", sendfile(null, fd, &at, 2 * BLOCK), 2 * BLOCK);
	expect("sendfile", 1, 2 * BLOCK, 0, 0);
	if (pipe(p))
		err(2, "pipe");
	must("splice out", splice(fd, &pos, p[1], NULL, 2 * BLOCK, 0), 2 * BLOCK);
	expect("splice from the file", 1, 2 * BLOCK, 0, 0);
	pos = BLOCK;
	must("splice in", splice(p[0], NULL, fd, &pos, 2 * BLOCK, 0), 2 * BLOCK);
	expect("splice into the file", 0, 0, 1, 2 * BLOCK);
	close(null);
	close(p[0]);
	close(p[1]);
}

static void copies(int fd)
{
	int out = open_file(other, O_RDWR | O_CREAT | O_TRUNC);
	loff_t from = 0, to = 0;

	must("copy_file_range", copy_file_range(fd, &from, out, &to, SIZE, 0), SIZE);
	expect("copy_file_range from the file", 1, SIZE, 0, 0);
	from = 0;
	to = 0;
	must("copy_file_range", copy_file_range(out, &from, fd, &to, SIZE, 0), SIZE);
	expect("copy_file_range into the file", 0, 0, 1, SIZE);
	close(out);
}

static void direct(void)
{
	int fd = open(file, O_RDWR | O_DIRECT);

	if (fd < 0) {	/* tmpfs of 6.1 */
		if (errno != EINVAL)
			err(2, "%s", file);
		return;
	}
	must("direct read", pread(fd, buf, BLOCK, BLOCK), BLOCK);
	expect("direct read", 1, BLOCK, 0, 0);
	must("direct write", pwrite(fd, buf, 2 * BLOCK, 0), 2 * BLOCK);
	expect("direct write", 0, 0, 1, 2 * BLOCK);
	kernel_aio(fd, "direct");
	close(fd);
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 4)
		errx(2, "usage: access_methods TARGETDIR FILE OTHER");
	target = argv[1];
	file = argv[2];
	other = argv[3];
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (posix_memalign((void **)&buf, BLOCK, SIZE))
		errx(2, "no memory");
	prepare(false);
	fd = open_file(file, O_RDWR);
	plain_reads(fd);
	plain_writes(fd);
	append();
	prepare(true);
	nowait_read(fd);
	prepare(false);
	nowait_read(fd);
	kernel_aio(fd, "buffered");
	posix_aio(fd);
	pipes(fd);
	copies(fd);
	prepare(false);
	direct();
	close(fd);
	/* last: the end of a ring interrupts a splice, which then starts again */
	uring("submission", 0, 0);
	uring("worker", 0, IOSQE_ASYNC);
	uring("SQPOLL", IORING_SETUP_SQPOLL, 0);
	return failures ? 1 : 0;
}
