// SPDX-License-Identifier: GPL-2.0
/*
 * iocost FILE r|w [direct]: print the mean time of a 4 KiB read or write in a 1 MiB
 * window of FILE, in nanoseconds with two decimals. Of several rounds the best is
 * taken, which nothing in the background has disturbed. In a virtual machine that
 * runs with -icount shift=0, a nanosecond is an instruction.
 *
 * iocost FILE a|m: print the time of a page fault in a shared mapping of the window:
 * a fault that maps the 16 pages around it, or one that makes a page writable.
 *
 * iocost FILE u: print the time of a read by io_uring, with one call of
 * io_uring_enter(2) that submits the request and waits for its completion.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, WINDOW = 256, OPERATIONS = 1024, ROUNDS = 6 };

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void run(int fd, int writing, char *buf, int operations)
{
	for (int i = 0; i < operations; i++) {
		off_t at = (off_t)(i % WINDOW) * BLOCK;
		ssize_t n = writing ? pwrite(fd, buf, BLOCK, at) :
				      pread(fd, buf, BLOCK, at);

		if (n != BLOCK)
			err(1, "operation %d", i);
	}
}

static void run_uring(struct io_uring *ring, int fd, char *buf, int operations)
{
	struct io_uring_cqe *cqe;

	for (int i = 0; i < operations; i++) {
		io_uring_prep_read(io_uring_get_sqe(ring), fd, buf, BLOCK,
				   (off_t)(i % WINDOW) * BLOCK);
		if (io_uring_submit_and_wait(ring, 1) != 1 ||
		    io_uring_peek_cqe(ring, &cqe) || cqe->res != BLOCK)
			errx(1, "operation %d", i);
		io_uring_cqe_seen(ring, cqe);
	}
}

/* Return: the mean time of the page faults of one round. */
static double fault(char *map, int writing)
{
	size_t stride = writing ? BLOCK : 16 * BLOCK;
	double start;
	size_t at;

	if (madvise(map, WINDOW * BLOCK, MADV_DONTNEED))
		err(1, "madvise");
	start = now();
	for (at = 0; at < WINDOW * BLOCK; at += stride) {
		if (writing)
			map[at] = 'x';
		else	/* The compiler has to think that the byte is used. */
			asm volatile("" : : "r"(map[at]));
	}
	return (now() - start) / (WINDOW * BLOCK / stride);
}

static int measure_faults(const char *file, int writing)
{
	int fd = open(file, O_RDWR);
	double took, best = 0;
	char *map;

	if (fd < 0)
		err(1, "%s", file);
	map = mmap(NULL, WINDOW * BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		err(1, "mmap");
	for (int round = 0; round < 40 * ROUNDS; round++) {
		took = fault(map, writing);
		if (!round || took < best)
			best = took;
	}
	printf("%.2f\n", best);
	return 0;
}

int main(int argc, char **argv)
{
	int writing, flags, by_uring;
	double start, took, best = 0;
	struct io_uring ring;
	void *buf;
	int fd;

	if (argc < 3)
		errx(2, "usage: iocost FILE r|w|a|m|u [direct]");
	if (strchr("am", argv[2][0]))
		return measure_faults(argv[1], argv[2][0] == 'm');
	writing = argv[2][0] == 'w';
	by_uring = argv[2][0] == 'u';
	if (by_uring && io_uring_queue_init(8, &ring, 0))
		errx(1, "io_uring");
	flags = argc > 3 ? O_DIRECT : 0;
	if (posix_memalign(&buf, BLOCK, BLOCK))
		errx(1, "no memory");
	memset(buf, 'x', BLOCK);
	fd = open(argv[1], O_RDWR | flags);
	if (fd < 0)
		err(1, "%s", argv[1]);
	run(fd, writing, buf, WINDOW * 2);
	for (int round = 0; round < ROUNDS; round++) {
		start = now();
		if (by_uring)
			run_uring(&ring, fd, buf, OPERATIONS);
		else
			run(fd, writing, buf, OPERATIONS);
		took = now() - start;
		if (!round || took < best)
			best = took;
	}
	printf("%.2f\n", best / OPERATIONS);
	return 0;
}
