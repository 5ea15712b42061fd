// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "record/workload.h"

/* The shell's exit codes. */
#define NOT_EXECUTABLE 126
#define NOT_FOUND 127

/* The signal that the child waits for. */
#define GO SIGUSR1

/* Whether execve(2) may accept the file; if not, the next directory of PATH is tried. */
static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static int cannot_run(const char *name, int err)
{
	cli_say_of(name, "cannot be run: %s", strerror(err));
	return err == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
}

/* Finds a program in PATH as execvp(3) does; NULL if it is not found that way. */
static char *find_program(const char *name)
{
	const char *dirs = getenv("PATH");
	size_t length;

	if (strchr(name, '/') || !*name || !dirs)
		return NULL;
	for (;; dirs += length + 1) {
		char *path;

		length = strcspn(dirs, ":");
		path = xasprintf("%.*s%s%s", (int)length, dirs, length ? "/" : "", name);
		if (is_program(path))
			return path;
		free(path);
		if (!dirs[length])
			return NULL;
	}
}

int workload_check(char **argv)
{
	const char *name = argv[0];
	struct stat st;
	char *path;

	if (strchr(name, '/')) {
		if (stat(name, &st) || access(name, X_OK))
			return cannot_run(name, errno);
		return S_ISREG(st.st_mode) ? 0 : cannot_run(name, EACCES);
	}
	path = find_program(name);
	if (!path && getenv("PATH"))
		return cannot_run(name, ENOENT);
	free(path);
	return 0;
}

/* Waits until the recorder lets the child go; if the recorder ends, so does the child. */
static void wait_for_go(pid_t recorder)
{
	siginfo_t info = { 0 };
	sigset_t go;

	sigemptyset(&go);
	sigaddset(&go, GO);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != recorder)
		_exit(CLI_FAILED);
	while (sigwaitinfo(&go, &info) < 0 || info.si_pid != recorder)
		;
	prctl(PR_SET_PDEATHSIG, 0);
}

/*
 * Runs in the child, which touches no file: its first event in the trace is the exec, and
 * events of the kernel's work for the exec already have the command's name.
 */
static void become(pid_t recorder, const char *path, char **argv, const sigset_t *mask)
{
	const char *slash = strrchr(argv[0], '/');

	prctl(PR_SET_NAME, slash ? slash + 1 : argv[0]);
	wait_for_go(recorder);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (path)
		execv(path, argv);
	execvp(argv[0], argv); /* runs a script without an interpreter line, or sets errno */
	_exit(cannot_run(argv[0], errno));
}

int workload_start(struct workload *w, char **argv, const sigset_t *mask)
{
	char *path = find_program(argv[0]);
	pid_t recorder = getpid();
	sigset_t go, before;

	*w = (struct workload){ .waits = true };
	/* The signal may come before the child waits. */
	sigemptyset(&go);
	sigaddset(&go, GO);
	sigprocmask(SIG_BLOCK, &go, &before);
	/* processes that outlive the command become our children: see workload_left() */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	w->pid = fork();
	if (!w->pid)
		become(recorder, path, argv, mask);
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(path);
	if (w->pid > 0)
		return CLI_OK;
	cli_say("cannot start %s: %s", argv[0], strerror(errno));
	w->pid = 0;
	return CLI_FAILED;
}

void workload_go(struct workload *w)
{
	if (kill(w->pid, GO))
		cli_say("cannot start the command: %s", strerror(errno));
	w->waits = false;
}

/*
 * Reaps a child that has ended, @pid or -1 for any. Reads its I/O counts first, which include those
 * of the children that it reaped, because they vanish with it. Returns its PID, 0 if none has
 * ended, or
 * -1 if there is no such child.
 */
static pid_t reap(struct workload *w, pid_t pid, bool wait, int *status)
{
	siginfo_t info = { 0 };
	int err;

	do {
		err = waitid(pid > 0 ? P_PID : P_ALL, pid > 0 ? pid : 0, &info,
			     WEXITED | WNOWAIT | (wait ? 0 : WNOHANG));
	} while (err && errno == EINTR);
	if (err || !info.si_pid)
		return err;
	w->io_unknown |= !kernel_io_add(&w->io, info.si_pid);
	return waitpid(info.si_pid, status, 0);
}

bool workload_ended(struct workload *w, bool wait)
{
	int status;

	if (!w->pid || w->ended)
		return w->ended;
	if (reap(w, w->pid, wait, &status) != w->pid)
		return false;
	w->ended = true;
	w->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return true;
}

bool workload_left(struct workload *w)
{
	pid_t pid;

	if (!w->pid)
		return false;
	do {
		pid = reap(w, -1, false, NULL);
	} while (pid > 0);
	return !pid;
}

/* Reads the beginning of a file in /proc/PID. Returns the length, 0 if the process is gone. */
static size_t read_of(pid_t pid, const char *name, char *text, size_t size)
{
	char *path = xasprintf("/proc/%d/%s", pid, name);
	FILE *file = fopen(path, "re");
	size_t length = file ? fread(text, 1, size, file) : 0;

	if (file)
		fclose(file);
	free(path);
	return length;
}

/* The name of a process, escaped; NULL if the process is gone. */
static char *name_of(pid_t pid)
{
	char comm[64];
	size_t length = read_of(pid, "comm", comm, sizeof(comm));

	while (length && comm[length - 1] == '\n')
		length--;
	return length ? text_show(comm, length) : NULL;
}

/* Whether a process is a child of this one, by /proc/PID/stat: "PID (COMM) STATE PARENT ...". */
static bool is_child(pid_t pid)
{
	char stat[256];
	size_t length = read_of(pid, "stat", stat, sizeof(stat) - 1);
	const char *comm_end;
	int parent = 0;

	stat[length] = '\0';
	comm_end = strrchr(stat, ')'); /* COMM can have any character */
	return comm_end && sscanf(comm_end, ") %*c %d", &parent) == 1 && parent == getpid();
}

/* Checks all processes, because not every kernel has /proc/PID/task/TID/children. */
char *workload_left_names(void)
{
	DIR *proc = opendir("/proc");
	char *names = NULL, *name, *all;
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		pid_t pid = atoi(entry->d_name);

		name = pid > 0 && is_child(pid) ? name_of(pid) : NULL;
		if (!name)
			continue;
		all = xasprintf("%s%s%s (%d)", names ? names : "", names ? ", " : "", name, pid);
		free(name);
		free(names);
		names = all;
	}
	if (proc)
		closedir(proc);
	return names;
}

void workload_cancel(struct workload *w)
{
	if (!w->pid || !w->waits)
		return;
	w->waits = false;
	kill(w->pid, SIGKILL);
	workload_ended(w, true);
}
