// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/follow.h"

#define FOLLOW_MS 100		/* between two reads for new events */

static atomic_bool interrupted;	/* lock-free, so a handler may set it */

static void on_signal(int number)
{
	(void)number;
	interrupted = true;
}

void follow_prepare(void)
{
	struct sigaction action = { .sa_handler = on_signal }, before;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

bool follow_interrupted(void)
{
	return interrupted;
}

bool follow_flush(void)
{
	if (cli_flush())
		return true;
	if (errno == EPIPE)
		cli_stdout_gone();
	return false;
}

bool follow_wait(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	if (!follow_flush())
		return false;
	/* No event is requested, so poll() reports only that stdout is closed. */
	if (poll(&out, 1, FOLLOW_MS) <= 0)
		return true;
	cli_stdout_gone();
	return false;
}
