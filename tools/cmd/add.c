// SPDX-License-Identifier: GPL-2.0
/* iotracer add: commands to the module's control file. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "module/adding.h"
#include "module/proc.h"
#include "module/target.h"
#include "module/tasks.h"
#include "vm/vm.h"
#include "vm/vm_find.h"
#include "vm/vm_object.h"

struct env {
	struct cli_files files;
	struct tasks tasks;
	const char *max_events;	/* digits, or NULL if not given */
	bool inode;		/* follow no path */
	bool all_operations;	/* not only reads and writes */
	bool network;		/* of processes: what their sockets do, too */
	const char *vm;		/* a virtual machine that is meant, or NULL */
	bool vm_files;		/* its files, each for itself */
};

/* A file that is already traced keeps the size of its ring unless --max-events is given. */
static int add_files(int fd, const struct env *env)
{
	static const char *const options[2][2] = { { "", "-a " }, { "-i ", "-i -a " } };
	const char *fallback = adding_default_events();
	struct target_list list = { 0 };
	int status = CLI_OK;
	size_t i;

	if (!env->max_events && target_list_load(&list))
		target_list_free(&list);
	for (i = 0; i < env->files.named.nr; i++) {
		const char *file = env->files.named.at[i];
		const char *events = env->max_events;

		if (!events && !target_is_traced(&list, file))
			events = fallback;
		status = cli_merge(status, adding_file(fd, file, events, options[env->inode][env->all_operations]));
	}
	target_list_free(&list);
	return status;
}

/* If no number is given the module takes its own. */
static int add_tasks(int fd, struct env *env)
{
	int status = tasks_resolve(&env->tasks, NULL);
	size_t i;

	for (i = 0; i < env->tasks.nr; i++) {
		const char *text = env->tasks.at[i].text;

		if (text)
			status = cli_merge(status, adding_tasks(fd, text, env->max_events, env->network ? "-n " : ""));
	}
	return status;
}

static bool is_count(const char *s)
{
	return *s && !s[strspn(s, "0123456789")] && s[strspn(s, "0")];
}

static void take_max_events(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;

	if (!is_count(arg))
		cli_usage(state, "--max-events=%s: say a number, 1 or more", arg);
	env->max_events = arg;
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;

	(void)given;
	if (env->vm && env->files.named.nr)
		cli_usage(state, "--vm goes without FILE");
	if (env->inode && env->vm && !env->vm_files)
		cli_usage(state, "--inode goes with --vm and --files: processes have no path that could lead to another file");
	if (env->inode && !env->vm && !env->files.named.nr && env->tasks.nr)
		cli_usage(state, "--inode goes with FILE: processes have no path that could lead to another file");
	if (env->network && (env->vm ? env->vm_files : !env->tasks.nr))
		cli_usage(state, "--network goes with processes and services (--pid, --unit ...), or with --vm without --files: a file has no sockets");
	if (env->files.named.nr || (!env->vm && !env->tasks.nr))
		cli_check_files(&env->files, state);
}

/* Those of a file system that is not mounted here are added, too. */
static int add_machine_files(int fd, struct env *env, const json_t *machine)
{
	int status = CLI_FAILED;
	struct vm_files files;
	size_t all;

	vm_files(&files, machine, VM_DELETED);
	all = files.nr;
	vm_files_free(&files);
	vm_files(&files, machine, 0);
	if (files.nr < all)
		cli_say_of(env->vm, "%zu of the files that it uses are deleted: these are traced with its processes only (without --files)",
			   all - files.nr);
	env->files.named.at = files.names;
	env->files.named.nr = files.nr;
	if (files.nr)
		status = add_files(fd, env);
	else
		cli_say_of(env->vm, "has no files on this host (iotracer vm show)");
	vm_files_free(&files);
	return status;
}

/* What QEMU opens later is of its process, too. */
static int add_machine(int fd, struct env *env)
{
	json_t *machine = vm_named(env->vm);
	int status;
	char *text;

	if (!machine)
		return CLI_FAILED;
	if (env->vm_files) {
		status = add_machine_files(fd, env, machine);
	} else {
		text = xasprintf("pid=%d", vm_pid(machine));
		status = adding_tasks(fd, text, env->max_events, env->network ? "-n " : "");
		free(text);
	}
	json_decref(machine);
	return status;
}

static int add_all(int fd, struct env *env)
{
	int status = CLI_OK;

	if (env->vm)
		status = add_machine(fd, env);
	else if (env->files.named.nr)
		status = add_files(fd, env);
	return cli_merge(status, add_tasks(fd, env));
}

static int run(int argc, char **argv)
{
	struct env env = { 0 };
	int status;
	int fd;

	command_parse(&command_add, argc, argv, &env);
	fd = proc_open(NULL, "control", O_WRONLY);
	if (fd < 0)
		return proc_explain(proc_root(), NULL, "control", fd);
	status = add_all(fd, &env);
	tasks_free(&env.tasks);
	close(fd);
	return status;
}

static const struct cli_option options[] = {
	{ "max-events", 'n', "N",
	  "keep the last N events; for a directory or processes, N per CPU (default: " ADDING_EVENTS ", or the module parameter MAX_EVENTS if that is larger)",
	  OPTION_TAKE, .take = take_max_events },
	{ "inode", 'i', NULL, "keep tracing the same file when another file takes over its path",
	  TO_FLAG(struct env, inode) },
	{ "all-operations", 'a', NULL,
	  "for a file or device, record flushes, truncations, discards and the like in addition to reads and writes",
	  TO_FLAG(struct env, all_operations) },
	{ "network", 0, NULL,
	  "for processes and services, record also what their sockets do: send, receive, connect, accept, close and the like",
	  TO_FLAG(struct env, network) },
	{ "vm", 0, "NAME|PID",
	  "trace the QEMU process of this virtual machine, including images and devices that it opens later",
	  TO_TEXT(struct env, vm), .values = VALUES_MACHINE },
	{ "files", 0, NULL,
	  "with --vm: trace instead each image and device that the machine uses now, including accesses by other programs",
	  TO_FLAG(struct env, vm_files), .with = "vm" },
	{ 0 }
};

const struct command command_add = {
	.name = "add",
	.summary = "start tracing files, directories, processes and services",
	.synopsis =
		"FILE...\n--vm=NAME|PID [--files]\n--pid=PID|--comm=NAME|--cgroup=PATH|--unit=NAME|--container=NAME|ID...",
	.help =
		"Start tracing files, block devices, directories with everything below them, or the file"
		" operations of processes and services.\v"
		"If a file is already traced, it stays traced; a different N resizes its ring, which keeps"
		" the newest events, but empties the ring of a directory or of processes. When another file takes over the path of a target, the target follows"
		" the path. A control group stays traced when it is removed and created again, for example"
		" when a service restarts.",
	.options = options,
	.group = &tasks_options, .group_at = offsetof(struct env, tasks),
	.operands = { .most = ANY_NUMBER, .values = VALUES_FILE },
	.words = offsetof(struct env, files.named),
	.check = check,
	.run = run,
};
