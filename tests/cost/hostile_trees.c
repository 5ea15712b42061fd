// SPDX-License-Identifier: GPL-2.0
/*
 * Make many processes: hostile_trees deep|flat NUMBER
 *
 * deep: each is the child of the one before; flat: all are children of the first. Prints the id of
 * the first one when all are there, and ends them all when its standard input ends.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* The first process, and all that it makes: they wait until they are killed. */
static void live(int ready, bool deep, int number)
{
	bool is_child;
	pid_t pid;

	setpgid(0, 0);
	for (; number; number--) {
		pid = fork();
		if (pid < 0)
			fail("fork");
		/* in a flat tree the parent makes the next one, in a deep one the child does */
		is_child = pid == 0;
		if (is_child != deep)
			break;
	}
	if (write(ready, ".", 1) != 1)
		fail("write");
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	int ready[2], number = argc == 3 ? atoi(argv[2]) : 0, i;
	pid_t pid;
	char c;

	if (number < 1 || pipe(ready))
		fail("usage: hostile_trees deep|flat NUMBER");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid)
		live(ready[1], !strcmp(argv[1], "deep"), number);
	close(ready[1]);
	for (i = 0; i <= number; i++)
		if (read(ready[0], &c, 1) != 1)
			fail("read");
	printf("%d\n", pid);
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	kill(-pid, SIGKILL);
	return 0;
}
