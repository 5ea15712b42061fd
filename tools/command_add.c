// SPDX-License-Identifier: GPL-2.0
/* iotracer add, iotracer remove: commands to the module's control file. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "command.h"
#include "proc.h"
#include "target.h"
#include "text.h"
#include "vm.h"

#define MAX_EVENTS	"4096"

enum { KEY_VM = 256 };
#define PARAMETER	"/sys/module/iotracer/parameters/MAX_EVENTS"

struct env {
	struct cli_files files;
	const char *max_events;	/* digits, or NULL if not given */
	bool inode;		/* follow no path */
	bool all_operations;	/* not only reads and writes */
	const char *vm;		/* a virtual machine whose files are meant, or NULL */
};

static const struct { int err; const char *why; } add_errors[] = {
	{ ENOENT, "no such file" },
	{ EACCES, "you may not read this file, so you may not trace it" },
	{ EISDIR, "a directory, and the module that is loaded traces only files and block devices" },
	{ EOPNOTSUPP, "cannot be traced: neither a regular file, a directory nor a block device, or its filesystem shows the kernel's own state or does not read and write through read_iter and write_iter" },
	{ ENOMEM, "no memory for its events: the number exceeds the module parameter max_events_limit, or all rings together ring_memory_limit (see dmesg); ask for less with --max-events" },
	{ EINVAL, "the module refused the command: the number of events must be from 1 to the module parameter max_events_limit" },
	{ ENOSPC, "No space left: as many directories are traced as can be; remove one (iotracer remove)" },
	{ ENAMETOOLONG, "the name is too long" },
	{ EIO, "the module is being unloaded" },
};

static int explain_add(const char *file, int err)
{
	size_t i;

	if (err == EPERM)
		return proc_explain(proc_root(), NULL, "control", -err);
	for (i = 0; i < sizeof(add_errors) / sizeof(add_errors[0]); i++)
		if (add_errors[i].err == err)
			break;
	cli_say_of(file, "%s", i < sizeof(add_errors) / sizeof(add_errors[0]) ?
		   add_errors[i].why : strerror(err));
	return err == EACCES ? CLI_DENIED : CLI_FAILED;
}

static int add_file(int fd, const char *file, const char *max_events, const struct env *env)
{
	char *spelled = target_spelled(file);
	char *escaped = text_escape(spelled);
	char *command = cli_printf("add %s%s%s%s%s", env->inode ? "-i " : "",
				   env->all_operations ? "-a " : "", escaped,
				   max_events ? " " : "", max_events ? max_events : "");
	int err = proc_command(fd, command);

	free(command);
	free(escaped);
	free(spelled);
	return err ? explain_add(file, -err) : CLI_OK;
}

/* The number to use if none is given; NULL if the module's own default is larger. */
static const char *default_events(void)
{
	unsigned long long n = 0;
	FILE *f = fopen(PARAMETER, "re");

	if (f) {
		if (fscanf(f, "%llu", &n) != 1)
			n = 0;
		fclose(f);
	}
	return n > strtoull(MAX_EVENTS, NULL, 10) ? NULL : MAX_EVENTS;
}

/* A file that is already traced keeps the size of its ring unless --max-events is given. */
static int add_files(int fd, const struct env *env)
{
	const char *fallback = default_events();
	struct target_list list = { 0 };
	int status = CLI_OK;
	size_t i;

	if (!env->max_events && target_list_load(&list))
		target_list_free(&list);
	for (i = 0; i < env->files.nr; i++) {
		const char *file = env->files.names[i];
		const char *events = env->max_events;

		if (!events && !target_is_traced(&list, file))
			events = fallback;
		status = cli_merge(status, add_file(fd, file, events, env));
	}
	target_list_free(&list);
	return status;
}

static bool is_count(const char *s)
{
	return *s && !s[strspn(s, "0123456789")] && s[strspn(s, "0")];
}

static error_t parse_add(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case 'i':
		env->inode = true;
		return 0;
	case 'a':
		env->all_operations = true;
		return 0;
	case 'n':
		if (!is_count(arg))
			cli_usage(state, "--max-events=%s: say a number, 1 or more", arg);
		env->max_events = arg;
		return 0;
	case KEY_VM:
		env->vm = arg;
		return 0;
	case ARGP_KEY_ARGS:
		if (env->vm)
			cli_usage(state, "--vm goes without FILE");
		break;
	case ARGP_KEY_END:
		if (env->vm)
			return 0;
		break;
	}
	return cli_parse_files(&env->files, key, state);
}

/* Adds the files of a machine. Those of a file system that is not mounted here are added, too. */
static int add_machine(int fd, struct env *env)
{
	json_t *machine = vm_named(env->vm);
	int status = CLI_FAILED;
	struct vm_files files;

	if (!machine)
		return CLI_FAILED;
	vm_files(&files, machine);
	env->files.names = files.names;
	env->files.nr = files.nr;
	if (files.nr)
		status = add_files(fd, env);
	else
		cli_say_of(env->vm, "has no files on this host (iotracer vm show)");
	vm_files_free(&files);
	json_decref(machine);
	return status;
}

int command_add(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "max-events", 'n', "N", 0,
		  "keep the last N events, of a directory that many of each CPU (default: " MAX_EVENTS ", or the module parameter MAX_EVENTS if that is larger)", 0 },
		{ "inode", 'i', NULL, 0,
		  "stay with the file when its path comes to lead to another one", 0 },
		{ "all-operations", 'a', NULL, 0,
		  "of a file or device record flushes, truncations, discards and the like, too, not only reads and writes", 0 },
		{ "vm", KEY_VM, "NAME|PID", 0,
		  "all images and devices that this virtual machine of QEMU uses now (iotracer vm show)", 0 },
		{ 0 }
	};
	static const struct argp argp = {
		options, parse_add, "FILE...\n--vm=NAME|PID",
		"Start to trace files, block devices, or directories with everything that happens below"
		" them.\v"
		"A file that is traced already stays so; if another N is given its ring is"
		" resized and keeps its newest events. When a path comes to lead to another file, the"
		" target goes on with that one.", cli_common, NULL, NULL
	};
	struct env env = { 0 };
	int status;
	int fd;

	cli_parse(&argp, argc, argv, 0, &env);
	fd = proc_open(NULL, "control", O_WRONLY);
	if (fd < 0)
		return proc_explain(proc_root(), NULL, "control", fd);
	status = env.vm ? add_machine(fd, &env) : add_files(fd, &env);
	close(fd);
	return status;
}

static int remove_path(int fd, const char *path)
{
	char *spelled = target_spelled(path);
	char *escaped = text_escape(spelled);
	char *command = cli_printf("remove %s", escaped);
	int err = proc_command(fd, command);

	free(command);
	free(escaped);
	free(spelled);
	return err;
}

static int explain_remove(const char *file, int err)
{
	if (err == -EPERM)
		return proc_explain(proc_root(), NULL, "control", err);
	if (err == -ENOENT)
		cli_say_of(file, "not traced any more");
	else
		cli_say_of(file, "%s", strerror(-err));
	return err == -EACCES ? CLI_DENIED : CLI_FAILED;
}

/*
 * Removes every link of a target. The module applies a path to the file that it
 * leads to now, so a path that meanwhile leads to another target is refused.
 */
static int remove_links(int fd, const struct target_list *list,
			const struct target *target)
{
	int status = CLI_OK;
	size_t i;

	for (i = 0; i < target->nr_paths; i++) {
		const char *path = target->paths[i];
		const struct target *now = target_at(list, path);
		int err;

		if (now && now != target) {
			cli_say_of(target->name, "not removed: its path %s leads to another target now, %s; remove that first",
				   path, now->name);
			return CLI_FAILED;
		}
		err = remove_path(fd, path);
		if (err)
			status = cli_merge(status, explain_remove(path, err));
	}
	return status;
}

/*
 * A path is left to the module, which removes only the link of that path, or the
 * link that a renamed file left behind. The name of the target, or a hard link
 * that was not added, removes the target with all of its links.
 */
static int remove_named(int fd, const struct target_list *list, const char *file)
{
	const struct target *target = target_find(list, file);
	int err;

	if (!target)
		return CLI_FAILED;
	if (strcmp(file, target->name) || target_path(target, file)) {
		err = remove_path(fd, file);
		if (!err)
			return CLI_OK;
		if (err != -ENOENT || target_path(target, file))
			return explain_remove(file, err);
	}
	return remove_links(fd, list, target);
}

/* Removes each listed path. Returns 0 or the last error. */
static int remove_listed(int fd, const struct target_list *list)
{
	int err = 0;
	size_t i, j;

	for (i = 0; i < list->nr; i++) {
		for (j = 0; j < list->targets[i].nr_paths; j++) {
			int failed = remove_path(fd, list->targets[i].paths[j]);

			if (failed)
				err = failed;
		}
	}
	return err;
}

/*
 * After an error there is a second round. If a path now leads to another target, removing it has
 * removed a link of that target. Then removing that link later fails, and the first target keeps
 * its link. Another process may also have removed a target at the same time.
 */
static int remove_all(int fd, struct target_list *list)
{
	int err = remove_listed(fd, list);

	if (!err)
		return CLI_OK;
	target_list_free(list);
	err = target_list_load(list);
	if (err)
		return proc_explain(proc_root(), NULL, "control", err);
	err = remove_listed(fd, list);
	return err ? explain_remove(list->targets[0].name, err) : CLI_OK;
}

static int remove_files(const struct cli_files *files, struct target_list *list)
{
	int fd = proc_open(NULL, "control", O_WRONLY);
	int status = CLI_OK;
	size_t i;

	if (fd < 0)
		return proc_explain(proc_root(), NULL, "control", fd);
	if (files->all)
		status = remove_all(fd, list);
	for (i = 0; i < files->nr; i++)
		status = cli_merge(status, remove_named(fd, list, files->names[i]));
	close(fd);
	return status;
}

static error_t parse_remove(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	return cli_parse_files(state->input, key, state);
}

int command_remove(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "all", 'a', NULL, 0, "all files", 0 },
		{ 0 }
	};
	static const struct argp argp = {
		options, parse_remove, "FILE...\n--all",
		"Trace files no longer and drop their events.\v"
		"FILE is a path or the name of a target. When several paths of one"
		" file were added, a path removes only itself, and the target goes with"
		" the last; the name of the target, or a hard link that was not added,"
		" removes them all. A renamed file's new name stands for its old one.", cli_common, NULL, NULL
	};
	struct cli_files files = { 0 };
	struct target_list list;
	int status;
	int err;

	cli_parse(&argp, argc, argv, 0, &files);
	err = target_list_load(&list);
	status = err ? proc_explain(proc_root(), NULL, "control", err) :
		       remove_files(&files, &list);
	target_list_free(&list);
	return status;
}
