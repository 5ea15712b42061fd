// SPDX-License-Identifier: GPL-2.0
/*
 * Floods that a process without privileges can cause, one scenario a run:
 *
 *	hostile_floods unmap FILE N	N mappings, and one munmap() of them all
 *	hostile_floods close FILE N	N descriptors, and one close_range() of them all
 *	hostile_floods polls FILE N	N requests of io_uring that wait at the same time
 *	hostile_floods overflow FILE N	N completions with the same user_data, and no room for them
 *	hostile_floods aio FILE N	N direct reads at the same time
 *	hostile_floods changed FILE 0	an sqe that changes while the kernel takes it
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

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	{ "unmap", run_unmap }, { "close", run_close }, { "polls", run_polls },
	{ "overflow", run_overflow }, { "aio", run_aio }, { "changed", run_changed },
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
