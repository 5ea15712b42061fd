// SPDX-License-Identifier: GPL-2.0
/*
 * uring SCENARIO FILE: make requests of io_uring, and print what the program sees of them:
 *
 *	ring FD SETUP
 *	submit USER_DATA OPCODE FD OFF LEN FLAGS	for each sqe
 *	enter RESULT				for each call that submitted
 *	complete USER_DATA RES FLAGS		for each cqe
 *
 * FILE has at least 64 KiB and may be written to.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define SIZE 4096

static struct io_uring ring;
static int file;
static char *buffer;
static unsigned int last;	/* user_data */

static void check(int ret, const char *what)
{
	if (ret < 0)
		errx(1, "%s: %s", what, strerror(-ret));
}

static void make_ring(unsigned int entries, unsigned int flags, unsigned int cq_entries)
{
	struct io_uring_params p = { .flags = flags, .cq_entries = cq_entries };

	check(io_uring_queue_init_params(entries, &ring, &p), "io_uring_setup");
	printf("ring %d %u\n", ring.ring_fd, p.flags);
}

static struct io_uring_sqe *get(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	if (!sqe)
		errx(1, "no sqe is free");
	return sqe;
}

/* Finish a request: give it a user_data of its own, and print it. */
static void put(struct io_uring_sqe *sqe, unsigned int flags)
{
	sqe->flags |= flags;
	sqe->user_data = 1000 + last++;
	printf("submit %llu %u %d %llu %u %u\n", (unsigned long long)sqe->user_data,
	       sqe->opcode, sqe->fd, (unsigned long long)sqe->off, sqe->len, sqe->flags);
}

static void submit(void)
{
	int n = io_uring_submit(&ring);

	check(n, "io_uring_enter");
	printf("enter %d\n", n);
}

static void reap(unsigned int n)
{
	struct io_uring_cqe *cqe;

	while (n--) {
		check(io_uring_wait_cqe(&ring, &cqe), "waiting for a completion");
		printf("complete %llu %d %u\n", (unsigned long long)cqe->user_data, cqe->res,
		       cqe->flags);
		io_uring_cqe_seen(&ring, cqe);
	}
}

static void put_read(unsigned int n, unsigned int flags)
{
	struct io_uring_sqe *sqe = get();

	io_uring_prep_read(sqe, file, buffer, SIZE, n * SIZE);
	put(sqe, flags);
}

static void read_one_by_one(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		put_read(i, 0);
		submit();
		reap(1);
	}
}

static void put_write(unsigned int n, unsigned int flags)
{
	struct io_uring_sqe *sqe = get();

	io_uring_prep_write(sqe, file, buffer, SIZE, n * SIZE);
	put(sqe, flags);
}

static void put_cancel(__u64 user_data)
{
	struct io_uring_sqe *sqe = get();

	io_uring_prep_cancel64(sqe, user_data, 0);
	put(sqe, 0);
}

static void put_nop(unsigned int flags)
{
	struct io_uring_sqe *sqe = get();

	io_uring_prep_nop(sqe);
	put(sqe, flags);
}

/* Each way to read and write: with fixed files and buffers, at the file's position. */
static void run_rw(void)
{
	struct iovec iov[2] = { { buffer, SIZE }, { buffer + SIZE, SIZE } };
	struct io_uring_sqe *sqe;

	make_ring(32, 0, 0);
	check(io_uring_register_files(&ring, &file, 1), "registering a file");
	check(io_uring_register_buffers(&ring, iov, 2), "registering buffers");
	put_write(0, 0);
	put_read(3, 0);
	sqe = get();
	io_uring_prep_readv(sqe, file, iov, 2, 2 * SIZE);
	put(sqe, 0);
	sqe = get();
	io_uring_prep_writev2(sqe, file, iov, 2, 4 * SIZE, RWF_DSYNC);
	put(sqe, 0);
	sqe = get();
	io_uring_prep_read(sqe, 0, buffer, 100, SIZE);
	put(sqe, IOSQE_FIXED_FILE);
	sqe = get();
	io_uring_prep_read_fixed(sqe, file, buffer, SIZE, 5 * SIZE, 0);
	put(sqe, 0);
	sqe = get();
	io_uring_prep_write_fixed(sqe, 0, buffer + SIZE, SIZE, 6 * SIZE, 1);
	put(sqe, IOSQE_FIXED_FILE);
	sqe = get();
	io_uring_prep_read(sqe, file, buffer, 10, -1);
	put(sqe, 0);
	sqe = get();
	io_uring_prep_fsync(sqe, file, IORING_FSYNC_DATASYNC);
	put(sqe, 0);
	submit();
	reap(9);
}

/* Chains: complete, broken by a short read, and of hard links, which go on after one. */
static void run_links(void)
{
	struct io_uring_sqe *sqe;

	make_ring(32, 0, 0);
	put_write(0, IOSQE_IO_LINK);
	put_read(0, IOSQE_IO_LINK);
	put_nop(0);
	submit();
	reap(3);
	sqe = get();
	io_uring_prep_read(sqe, file, buffer, SIZE, 1ULL << 40); /* beyond the end of the file */
	put(sqe, IOSQE_IO_LINK);
	put_read(1, IOSQE_IO_LINK);
	put_read(2, 0);
	submit();
	reap(3);
	sqe = get();
	io_uring_prep_read(sqe, file, buffer, SIZE, 1ULL << 40);
	put(sqe, IOSQE_IO_HARDLINK);
	put_read(1, 0);
	submit();
	reap(2);
}

static void run_drain(void)
{
	make_ring(8, 0, 0);
	put_read(0, IOSQE_ASYNC);
	put_read(1, IOSQE_ASYNC);
	put_nop(IOSQE_IO_DRAIN);
	put_read(2, 0);
	submit();
	reap(4);
}

static void run_workers(void)
{
	make_ring(8, 0, 0);
	for (int i = 0; i < 5; i++)
		put_read(i, IOSQE_ASYNC);
	submit();
	reap(5);
}

static void run_cancel(void)
{
	struct io_uring_sqe *sqe;
	int pipes[2];

	if (pipe(pipes))
		err(1, "pipe");
	make_ring(8, 0, 0);
	sqe = get();
	io_uring_prep_read(sqe, pipes[0], buffer, 1, 0);
	put(sqe, 0);
	submit();
	put_cancel(1000);
	submit();
	reap(2);
}

/* One request, many completions. */
static void run_multishot(void)
{
	struct io_uring_sqe *sqe;
	int pipes[2];

	if (pipe(pipes))
		err(1, "pipe");
	make_ring(8, 0, 0);
	sqe = get();
	io_uring_prep_poll_multishot(sqe, pipes[0], POLLIN);
	put(sqe, 0);
	submit();
	for (int i = 0; i < 3; i++) {
		if (write(pipes[1], "x", 1) != 1)
			err(1, "pipe");
		reap(1);
		if (read(pipes[0], buffer, 1) != 1)
			err(1, "pipe");
	}
	sqe = get();
	io_uring_prep_poll_remove(sqe, 1000);
	put(sqe, 0);
	submit();
	reap(2);
}

/* More completions than the ring can hold. */
static void run_overflow(void)
{
	make_ring(4, IORING_SETUP_CQSIZE, 8);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 4; i++)
			put_nop(0);
		submit();
	}
	reap(20);
}

static void run_refused(void)
{
	struct io_uring_sqe *sqe;

	make_ring(8, 0, 0);
	sqe = get();
	io_uring_prep_nop(sqe);
	sqe->opcode = 200;
	put(sqe, 0);
	submit();
	sqe = get();
	io_uring_prep_read(sqe, 1 << 20, buffer, SIZE, 0);
	put(sqe, 0);
	submit();
	reap(2);
}

static void run_silent(void)
{
	make_ring(8, 0, 0);
	put_read(0, IOSQE_CQE_SKIP_SUCCESS);
	put_read(1, 0);
	submit();
	reap(1);
}

static void run_sqpoll(void)
{
	make_ring(8, IORING_SETUP_SQPOLL, 0);
	read_one_by_one(6);
}

static void run_registered(void)
{
	make_ring(8, 0, 0);
	check(io_uring_register_ring_fd(&ring), "registering a ring");
	read_one_by_one(3);
}

/* Completions are polled from a queue of the device. FILE is a null_blk. */
static void run_iopoll(void)
{
	make_ring(8, IORING_SETUP_IOPOLL, 0);
	read_one_by_one(4);
}

static void run_timeout(void)
{
	struct __kernel_timespec ts = { .tv_nsec = 3000000 };
	struct io_uring_sqe *sqe;

	make_ring(8, 0, 0);
	sqe = get();
	io_uring_prep_timeout(sqe, &ts, 0, 0);
	put(sqe, 0);
	submit();
	reap(1);
}

/* The loopback device exists, but is down. */
static void raise_loopback(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &ifr))
		err(1, "lo");
	close(fd);
}

static int listen_somewhere(struct sockaddr_in *address)
{
	socklen_t length = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	raise_loopback();
	memset(address, 0, sizeof(*address));
	address->sin_family = AF_INET;
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)address, length) || listen(fd, 8) ||
	    getsockname(fd, (struct sockaddr *)address, &length))
		err(1, "socket");
	return fd;
}

/* Multishot accept of connections, and a send without a copy, which has two completions. */
static void run_sockets(void)
{
	struct sockaddr_in address;
	struct io_uring_sqe *sqe;
	int fd = listen_somewhere(&address), clients[3];

	make_ring(8, 0, 0);
	sqe = get();
	io_uring_prep_multishot_accept(sqe, fd, NULL, NULL, 0);
	put(sqe, 0);
	submit();
	for (int i = 0; i < 3; i++) {
		clients[i] = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(clients[i], (struct sockaddr *)&address, sizeof(address)))
			err(1, "connect");
		reap(1);
	}
	sqe = get();
	io_uring_prep_send_zc(sqe, clients[0], buffer, SIZE, 0, 0);
	put(sqe, 0);
	submit();
	reap(2);
	put_cancel(1000);
	submit();
	reap(2);
}

/* The fd is no file but FUTEX2_SIZE_U32, which is also the descriptor of standard error. */
static void run_futex(void)
{
	static unsigned int word;
	struct io_uring_sqe *sqe;

	make_ring(8, 0, 0);
	sqe = get();
	io_uring_prep_nop(sqe);
	sqe->opcode = 52; /* IORING_OP_FUTEX_WAKE, 6.7 */
	sqe->fd = 2;
	sqe->addr = (unsigned long)&word;
	sqe->off = 1;
	sqe->addr3 = ~0U;
	put(sqe, 0);
	submit();
	reap(1);
}

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	{ "rw", run_rw }, { "links", run_links }, { "drain", run_drain },
	{ "workers", run_workers }, { "cancel", run_cancel },
	{ "multishot", run_multishot }, { "overflow", run_overflow },
	{ "refused", run_refused }, { "silent", run_silent }, { "sqpoll", run_sqpoll },
	{ "registered", run_registered }, { "iopoll", run_iopoll },
	{ "timeout", run_timeout }, { "sockets", run_sockets },
	{ "futex", run_futex },
};

int main(int argc, char **argv)
{
	size_t i;

	if (argc != 3)
		errx(1, "usage: uring SCENARIO FILE");
	file = open(argv[2], O_RDWR | (strcmp(argv[1], "iopoll") ? 0 : O_DIRECT));
	if (file < 0)
		err(1, "%s", argv[2]);
	if (posix_memalign((void **)&buffer, SIZE, 2 * SIZE))
		errx(1, "no memory");
	memset(buffer, 'u', 2 * SIZE);
	for (i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++) {
		if (strcmp(scenarios[i].name, argv[1]))
			continue;
		scenarios[i].run();
		return 0;
	}
	errx(1, "no scenario '%s'", argv[1]);
}
