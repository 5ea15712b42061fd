// SPDX-License-Identifier: GPL-2.0
/*
 * Floods that a process without privileges can cause, one scenario a run:
 *
 *	hostile_floods unmap FILE N	N mappings, and one munmap() of them all
 *	hostile_floods close FILE N	N descriptors, and one close_range() of them all
 *	hostile_floods polls FILE N	N requests of io_uring that wait at the same time
 *	hostile_floods overflow FILE N	N completions with the same user_data, and no room for them
 *	hostile_floods aio FILE N	N direct reads at the same time
 *	hostile_floods direct FILE N	N threads, each in a direct read
 *	hostile_floods reads FILE N	N reads of io_uring that wait for the page cache
 *	hostile_floods dirty FILE N	N pages of the file made dirty, far from each other
 *	hostile_floods changed FILE 0	an sqe that changes while the kernel takes it
 *	hostile_floods resize FILE N	N requests of a ring that is resized all the time; prints
 *					USER_DATA and RESULT of each completion
 *
 * A scenario that prints a word ("open", "ready") goes on when it reads a line, or when its
 * standard input ends.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <libaio.h>
#include <liburing.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE	4096UL

static const char *path;
static unsigned int number;

static void check(int ret, const char *what)
{
	if (ret < 0)
		errx(1, "%s: %s", what, strerror(-ret));
}

static int open_path(int flags)
{
	int fd = open(path, flags);

	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static void wait_for_end(const char *word)
{
	char c;

	puts(word);
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		if (c == '\n')
			return;
}

/* All mappings are of the same page of the file, so the kernel cannot merge them. */
static void run_unmap(void)
{
	int fd = open_path(O_RDONLY);
	char *all = mmap(NULL, number * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED)
		err(1, "mmap");
	for (unsigned int i = 0; i < number; i++)
		if (mmap(all + i * PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) ==
		    MAP_FAILED)
			err(1, "mapping %u", i);
	if (munmap(all, number * PAGE))
		err(1, "munmap");
	printf("%lu\n", (unsigned long)all);
}

static void run_close(void)
{
	int fd = open_path(O_RDONLY);

	for (unsigned int i = 0; i < number; i++)
		if (dup2(fd, 100 + i) < 0)
			err(1, "descriptor %u", i);
	if (close_range(100, ~0U, 0))
		err(1, "close_range");
}

static struct io_uring ring;

static void make_ring(unsigned int entries, unsigned int cq_entries)
{
	struct io_uring_params p = { .flags = IORING_SETUP_CQSIZE, .cq_entries = cq_entries };

	check(io_uring_queue_init_params(entries, &ring, &p), "io_uring_setup");
}

static void run_polls(void)
{
	int fd = eventfd(0, 0);

	make_ring(4096, 65536);
	for (unsigned int i = 0; i < number; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

		io_uring_prep_poll_add(sqe, fd, POLLIN);
		sqe->user_data = i;
		if (i % 4096 == 4095 || i == number - 1)
			check(io_uring_submit(&ring), "io_uring_enter");
	}
	wait_for_end("ready");
	/* Complete all: requests that the end of a ring cancels outlive the process. */
	check(eventfd_write(fd, 1), "eventfd");
	for (unsigned int i = 0; i < number; i++) {
		struct io_uring_cqe *cqe;

		check(io_uring_wait_cqe(&ring, &cqe), "io_uring_enter");
		io_uring_cqe_seen(&ring, cqe);
	}
}

static void run_overflow(void)
{
	make_ring(64, 64);
	for (unsigned int i = 0; i < number; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

		io_uring_prep_nop(sqe);
		sqe->user_data = 7;
		if (i % 64 == 63 || i == number - 1)
			check(io_uring_submit(&ring), "io_uring_enter");
	}
}

static void run_aio(void)
{
	int fd = open_path(O_RDONLY | O_DIRECT);
	struct iocb *iocbs = calloc(number, sizeof(*iocbs)), *one;
	io_context_t context = NULL;
	struct io_event event;
	void *buffer;

	if (!iocbs || posix_memalign(&buffer, PAGE, PAGE))
		errx(1, "no memory");
	check(io_setup(number, &context), "io_setup");
	wait_for_end("open");
	for (unsigned int i = 0; i < number; i++) {
		one = &iocbs[i];
		io_prep_pread(one, fd, buffer, PAGE, PAGE * (i % 1024));
		check(io_submit(context, 1, &one), "io_submit");
	}
	wait_for_end("ready");
	for (unsigned int i = 0; i < number; i++)
		check(io_getevents(context, 1, 1, &event, NULL), "io_getevents");
}

static int direct_fd;

static void *read_directly(void *at)
{
	void *buffer;

	if (posix_memalign(&buffer, PAGE, PAGE))
		errx(1, "no memory");
	if (pread(direct_fd, buffer, PAGE, (long)at) != (ssize_t)PAGE)
		err(1, "pread");
	free(buffer);
	return NULL;
}

static void run_direct(void)
{
	pthread_t *threads = calloc(number, sizeof(*threads));
	pthread_attr_t attr;

	direct_fd = open_path(O_RDONLY | O_DIRECT);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	wait_for_end("open");
	for (unsigned int i = 0; i < number; i++)
		if (pthread_create(&threads[i], &attr, read_directly, (void *)(i % 1024 * PAGE)))
			errx(1, "thread %u", i);
	wait_for_end("ready");
	for (unsigned int i = 0; i < number; i++)
		pthread_join(threads[i], NULL);
}

/* Of the two pages of each read only the first is there. Nothing is read ahead. */
static void run_reads(void)
{
	const unsigned long apart = 64 * PAGE;
	int fd = open_path(O_RDONLY);
	struct io_uring_cqe *cqe;
	void *buffer;

	if (posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) || posix_memalign(&buffer, PAGE, 2 * PAGE))
		errx(1, "no memory");
	for (unsigned int i = 0; i < number; i++)
		if (pread(fd, buffer, PAGE, apart * i) != (ssize_t)PAGE)
			err(1, "pread");
	make_ring(4096, 8192);
	wait_for_end("open");
	for (unsigned int i = 0; i < number; i++)
		io_uring_prep_read(io_uring_get_sqe(&ring), fd, buffer, 2 * PAGE, apart * i);
	check(io_uring_submit(&ring), "io_uring_enter");
	wait_for_end("ready");
	for (unsigned int i = 0; i < number; i++) {
		check(io_uring_wait_cqe(&ring, &cqe), "io_uring_enter");
		check(cqe->res, "read");
		io_uring_cqe_seen(&ring, cqe);
	}
}

/* Few of the pages are dirty at a time, so that none is written. */
static void run_dirty(void)
{
	enum { AT_ONCE = 5000, APART = 16 };
	int fd = open_path(O_RDWR);

	for (unsigned int i = 0; i < number; i++) {
		off_t at = (off_t)(i % AT_ONCE * APART + i / AT_ONCE % APART) * PAGE;

		if (pwrite(fd, "x", 1, at) != 1)
			err(1, "pwrite");
		if (i % AT_ONCE == AT_ONCE - 1 && ftruncate(fd, 0))
			err(1, "ftruncate");
	}
}

/* The page of the name is missing: a read of it waits for change(). */
static char *name;
static int faults;

static void *change(void *unused)
{
	struct uffd_msg msg;
	struct uffdio_copy copy = { .dst = (unsigned long)name, .len = PAGE };
	char *page = aligned_alloc(PAGE, PAGE);

	(void)unused;
	strcpy(page, path);
	copy.src = (unsigned long)page;
	if (read(faults, &msg, sizeof(msg)) != sizeof(msg))
		err(1, "reading a fault");
	ring.sq.sqes[0].user_data = 0xbad;
	ring.sq.sqes[0].flags = IOSQE_ASYNC;
	if (ioctl(faults, UFFDIO_COPY, &copy))
		err(1, "UFFDIO_COPY");
	return NULL;
}

static void run_changed(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
	pthread_t thread;

	make_ring(8, 8);
	name = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (faults < 0 || ioctl(faults, UFFDIO_API, &api))
		err(1, "userfaultfd");
	reg.range.start = (unsigned long)name;
	reg.range.len = PAGE;
	if (ioctl(faults, UFFDIO_REGISTER, &reg))
		err(1, "UFFDIO_REGISTER");
	pthread_create(&thread, NULL, change, NULL);
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_openat(sqe, AT_FDCWD, name, O_RDONLY, 0);
	sqe->user_data = 1000;
	check(io_uring_submit(&ring), "io_uring_enter");
	check(io_uring_wait_cqe(&ring, &cqe), "waiting for a completion");
	printf("%llu %d\n", (unsigned long long)cqe->user_data, cqe->res);
	pthread_join(thread, NULL);
}

#define RESIZE_RINGS	33	/* IORING_REGISTER_RESIZE_RINGS, 6.13 */

static void resize(unsigned int entries, unsigned int cq_entries)
{
	struct io_uring_params p = {
		.sq_entries = entries, .cq_entries = cq_entries,
		.flags = IORING_SETUP_CQSIZE,
	};
	struct io_uring old = ring;

	if (syscall(SYS_io_uring_register, old.ring_fd, RESIZE_RINGS, &p, 1))
		err(1, "resizing a ring to %u and %u", entries, cq_entries);
	munmap(old.sq.ring_ptr, old.sq.ring_sz);
	munmap(old.sq.sqes, old.sq.ring_entries * sizeof(*old.sq.sqes));
	p.features = IORING_FEAT_SINGLE_MMAP;
	check(io_uring_queue_mmap(old.ring_fd, &p, &ring), "mapping a ring");
	for (unsigned int i = 0; i < ring.sq.ring_entries; i++)
		ring.sq.array[i] = i;
	ring.sq.sqe_head = *ring.sq.ktail;
	ring.sq.sqe_tail = *ring.sq.ktail;
}

/* No other thread may use such a ring, but it may ask the kernel to. */
static void *intrude(void *fd)
{
	for (;;) {
		syscall(SYS_io_uring_enter, *(int *)fd, 0, 0, IORING_ENTER_GETEVENTS, NULL, 0);
		usleep(300);
	}
	return NULL;
}

static unsigned int reap_ready(void)
{
	struct io_uring_cqe *cqe;
	unsigned int n = 0;

	while (!io_uring_peek_cqe(&ring, &cqe)) {
		printf("%llu %d\n", (unsigned long long)cqe->user_data, cqe->res);
		io_uring_cqe_seen(&ring, cqe);
		n++;
	}
	return n;
}

/* Nothing, and reads at once and by workers, of which many are not complete when it resizes. */
static void put_some(int fd, char *buffer, unsigned int first, unsigned int n)
{
	for (unsigned int i = first; i < first + n; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

		if (!sqe)
			errx(1, "no sqe is free");
		if (i % 3)
			io_uring_prep_read(sqe, fd, buffer, i % 100 + 1, 0);
		else
			io_uring_prep_nop(sqe);
		if (i % 3 == 1)
			sqe->flags |= IOSQE_ASYNC;
		sqe->user_data = i + 1;
	}
	check(io_uring_submit(&ring), "io_uring_enter");
}

static void run_resize(void)
{
	struct io_uring_params p = {
		.flags = IORING_SETUP_CQSIZE | IORING_SETUP_SINGLE_ISSUER |
			 IORING_SETUP_DEFER_TASKRUN,
		.cq_entries = 256,
	};
	static const unsigned int sizes[][2] = {
		{ 16, 512 }, { 128, 256 }, { 8, 2048 }, { 64, 256 },
	};
	unsigned int put = 0, taken = 0, round = 0;
	int fd = open_path(O_RDONLY), ring_fd;
	struct io_uring_cqe *cqe;
	static char buffer[PAGE];
	pthread_t thread;

	check(io_uring_queue_init_params(64, &ring, &p), "io_uring_setup");
	ring_fd = ring.ring_fd;
	pthread_create(&thread, NULL, intrude, &ring_fd);
	while (put < number) {
		unsigned int n = number - put < 8 ? number - put : 8;

		put_some(fd, buffer, put, n);
		put += n;
		resize(sizes[round % 4][0], sizes[round % 4][1]);
		round++;
		if (put - taken > 128)
			check(io_uring_wait_cqe(&ring, &cqe), "waiting for a completion");
		taken += reap_ready();
	}
	while (taken < number) {
		check(io_uring_wait_cqe(&ring, &cqe), "waiting for a completion");
		taken += reap_ready();
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	{ "unmap", run_unmap }, { "close", run_close }, { "polls", run_polls },
	{ "overflow", run_overflow }, { "aio", run_aio }, { "changed", run_changed },
	{ "direct", run_direct }, { "reads", run_reads }, { "dirty", run_dirty },
	{ "resize", run_resize },
};

int main(int argc, char **argv)
{
	size_t i;

	if (argc != 4)
		errx(1, "usage: hostile_floods SCENARIO FILE N");
	path = argv[2];
	number = strtoul(argv[3], NULL, 10);
	for (i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++) {
		if (strcmp(scenarios[i].name, argv[1]))
			continue;
		scenarios[i].run();
		return 0;
	}
	errx(1, "no scenario '%s'", argv[1]);
}
