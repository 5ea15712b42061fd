// SPDX-License-Identifier: GPL-2.0
/*
 * netcost WHAT: print a mean time in nanoseconds with two decimals, as iocost does. WHAT is
 *
 *   udp, tcp, unix	of a send of 64 bytes over loopback and the receive that takes them
 *   epoll		of an epoll_wait(2) that finds a descriptor ready
 *   option		of a setsockopt(2) of four bytes
 *   connection		of a connection of TCP over loopback: socket, connect, accept, two times close
 */
#include <arpa/inet.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 64, OPERATIONS = 1024, ROUNDS = 6 };

static int one, two, set, server;
static struct sockaddr_in server_at;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static int bound(int type, struct sockaddr_in *at)
{
	socklen_t length = sizeof(*at);
	int fd = socket(AF_INET, type, 0);

	*at = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (fd < 0 || bind(fd, (void *)at, length) || getsockname(fd, (void *)at, &length))
		err(1, "socket");
	return fd;
}

static void connect_udp(void)
{
	struct sockaddr_in at, to;

	one = bound(SOCK_DGRAM, &at);
	two = bound(SOCK_DGRAM, &to);
	if (connect(one, (void *)&to, sizeof(to)))
		err(1, "connect");
}

static void connect_tcp(void)
{
	struct sockaddr_in at, to;
	int server = bound(SOCK_STREAM, &to);

	one = bound(SOCK_STREAM, &at);
	if (listen(server, 1) || connect(one, (void *)&to, sizeof(to)))
		err(1, "connect");
	two = accept(server, NULL, NULL);
	if (two < 0)
		err(1, "accept");
}

static void connect_unix(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		err(1, "socketpair");
	one = pair[0];
	two = pair[1];
}

static void serve(void)
{
	server = bound(SOCK_STREAM, &server_at);
	if (listen(server, 1))
		err(1, "listen");
}

/* It is reset at the end, so that no socket stays in TIME_WAIT. */
static void connect_once(void)
{
	const struct linger reset = { .l_onoff = 1 };
	int to = socket(AF_INET, SOCK_STREAM, 0), from;

	if (to < 0 || setsockopt(to, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) ||
	    connect(to, (void *)&server_at, sizeof(server_at)))
		err(1, "connect");
	from = accept(server, NULL, NULL);
	if (from < 0)
		err(1, "accept");
	close(to);
	close(from);
}

static void make_epoll(void)
{
	struct epoll_event event = { .events = EPOLLIN };

	connect_unix();
	set = epoll_create1(0);
	if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, two, &event) || send(one, "x", 1, 0) != 1)
		err(1, "epoll");
}

static void transfer(void)
{
	char data[BYTES] = "";

	if (send(one, data, BYTES, 0) != BYTES || recv(two, data, BYTES, 0) != BYTES)
		err(1, "transfer");
}

static void wait_for_ready(void)
{
	struct epoll_event event;

	if (epoll_wait(set, &event, 1, 0) != 1)
		err(1, "epoll_wait");
}

static void set_option(void)
{
	int on = 1;

	if (setsockopt(one, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)))
		err(1, "setsockopt");
}

static const struct {
	const char *name;
	void (*prepare)(void);
	void (*act)(void);
} kinds[] = {
	{ "udp", connect_udp, transfer },
	{ "tcp", connect_tcp, transfer },
	{ "unix", connect_unix, transfer },
	{ "epoll", make_epoll, wait_for_ready },
	{ "option", connect_tcp, set_option },
	{ "connection", serve, connect_once },
};

static void measure(void (*act)(void))
{
	double took, best = 0;

	for (int round = 0; round < ROUNDS; round++) {
		double start = now();

		for (int i = 0; i < OPERATIONS; i++)
			act();
		took = now() - start;
		if (!round || took < best)
			best = took;
	}
	printf("%.2f\n", best / OPERATIONS);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, argv[1]))
			continue;
		kinds[i].prepare();
		measure(kinds[i].act);
		return 0;
	}
	errx(2, "usage: netcost udp|tcp|unix|epoll|option|connection");
}
