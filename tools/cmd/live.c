// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "cmd/live.h"
#include "record/store.h"

#define WORDS_MOST 64

/* "fs,block"; the caller frees it. */
static char *names_of(const struct category *const *categories, size_t nr)
{
	char *names = nr ? NULL : xstrdup("fs");
	size_t i;

	for (i = 0; i < nr; i++)
		names = text_append(names, ",", categories[i]->name);
	return names;
}

/* In a process of its own, which this program's end ends, too, and which gets signals from it only. */
static void __attribute__((noreturn))
record(const struct live *l, char *categories, const struct select *select, double seconds)
{
	char *argv[WORDS_MOST] = { "record", "-o", l->trace, "-c", categories, "--compress=never" };
	int argc = 6;
	size_t i;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (l->vm)
		argv[argc++] = xasprintf("--vm=%s", l->vm);
	if (seconds)
		argv[argc++] = xasprintf("--time=%.9f", seconds);
	for (i = 0; i < select->nr && argc < WORDS_MOST - 1; i++)
		if (select_is_known_to_module(select, i))
			argv[argc++] = xasprintf("--filter=%s", select_given(select, i));
	exit(command_run(argc, argv));
}

/*
 * The first of the signals in @set, which are blocked, ends the recording; further ones are ignored
 * meanwhile. Returns the recorder's exit code.
 */
static int wait_for(pid_t pid, const sigset_t *set)
{
	bool told = false;
	int status;

	while (!waitpid(pid, &status, WNOHANG)) {
		int number = sigwaitinfo(set, NULL);

		if (number > 0 && number != SIGCHLD && !told)
			told = !kill(pid, SIGTERM);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : CLI_FAILED;
}

static void block_signals(sigset_t *set, sigset_t *before)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGCHLD);
	sigprocmask(SIG_BLOCK, set, before);
}

static bool make_directory(struct live *l)
{
	const char *top = getenv("TMPDIR");

	l->directory = xasprintf("%s/iotracer.XXXXXX", top && *top ? top : "/var/tmp");
	if (mkdtemp(l->directory)) {
		l->trace = xasprintf("%s/live", l->directory);
		return true;
	}
	cli_say("cannot make a directory for what is recorded, %s: %s", l->directory, strerror(errno));
	free(l->directory);
	l->directory = NULL;
	return false;
}

int live_record(struct live *l, const struct category *const *categories, size_t nr,
		const struct select *select, double seconds)
{
	sigset_t set, before;
	char *names;
	int status;
	pid_t pid;

	if (!make_directory(l))
		return CLI_FAILED;
	names = names_of(categories, nr);
	block_signals(&set, &before);
	pid = fork();
	if (!pid) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		record(l, names, select, seconds);
	}
	if (pid < 0)
		cli_say("cannot start the recorder: %s", strerror(errno));
	status = pid < 0 ? CLI_FAILED : wait_for(pid, &set);
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(names);
	return status;
}

void live_remove(struct live *l)
{
	if (!l->directory)
		return;
	if (!access(l->trace, F_OK))
		store_remove(l->trace);
	if (rmdir(l->directory))
		cli_say("%s stays: %s", l->directory, strerror(errno));
	free(l->directory);
	free(l->trace);
	*l = (struct live){ .directory = NULL };
}
