// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "text.h"
#include "workload.h"

/* As the shell has it. */
#define NOT_EXECUTABLE 126
#define NOT_FOUND 127

/* In the child: nothing but exec and _exit() may be left to do. */
static void become(int wait_on, char **argv, const sigset_t *mask)
{
	char byte;
	ssize_t n;
	int err;

	do {
		n = read(wait_on, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(CLI_FAILED);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	err = errno;
	cli_say_of(argv[0], "cannot be run: %s", strerror(err));
	_exit(err == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

int workload_start(struct workload *w, char **argv, const sigset_t *mask)
{
	int ends[2];

	*w = (struct workload){ .go = -1 };
	if (pipe2(ends, O_CLOEXEC)) {
		cli_say("no pipe to be had: %s", strerror(errno));
		return CLI_FAILED;
	}
	/* of what it leaves behind, too: see workload_left() */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	w->pid = fork();
	if (!w->pid) {
		close(ends[1]);
		become(ends[0], argv, mask);
	}
	close(ends[0]);
	if (w->pid < 0) {
		cli_say("cannot start %s: %s", argv[0], strerror(errno));
		close(ends[1]);
		w->pid = 0;
		return CLI_FAILED;
	}
	w->go = ends[1];
	return CLI_OK;
}

void workload_go(struct workload *w)
{
	if (write(w->go, "", 1) < 0)
		cli_say("the command cannot be let go: %s", strerror(errno));
	close(w->go);
	w->go = -1;
}

bool workload_ended(struct workload *w, bool wait)
{
	int status;
	pid_t pid;

	if (!w->pid || w->ended)
		return w->ended;
	do {
		pid = waitpid(w->pid, &status, wait ? 0 : WNOHANG);
	} while (pid < 0 && errno == EINTR);
	if (pid != w->pid)
		return false;
	w->ended = true;
	w->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

bool workload_left(const struct workload *w)
{
	pid_t pid;

	if (!w->pid)
		return false;
	do {
		pid = waitpid(-1, NULL, WNOHANG);
	} while (pid > 0 || (pid < 0 && errno == EINTR));
	return !pid;
}

/* Of a process, shown; NULL where it has gone. */
static char *name_of(pid_t pid)
{
	char *path = cli_printf("/proc/%d/comm", pid);
	FILE *file = fopen(path, "re");
	char comm[64];
	size_t length = file ? fread(comm, 1, sizeof(comm), file) : 0;

	if (file)
		fclose(file);
	free(path);
	while (length && comm[length - 1] == '\n')
		length--;
	return length ? text_show(comm, length) : NULL;
}

char *workload_left_names(void)
{
	char *path = cli_printf("/proc/self/task/%d/children", getpid());
	FILE *file = fopen(path, "re");
	char *names = NULL, *name, *all;
	int pid;

	free(path);
	while (file && fscanf(file, "%d", &pid) == 1) {
		name = name_of(pid);
		if (!name)
			continue;
		all = cli_printf("%s%s%s (%d)", names ? names : "", names ? ", " : "", name, pid);
		free(name);
		free(names);
		names = all;
	}
	if (file)
		fclose(file);
	return names;
}

void workload_cancel(struct workload *w)
{
	if (!w->pid || w->go < 0)
		return;
	close(w->go);
	w->go = -1;
	workload_ended(w, true);
}
