// SPDX-License-Identifier: GPL-2.0
/* iotracer remove: commands to the module's control file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "module/proc.h"
#include "module/target.h"
#include "module/tasks.h"
#include "vm/vm.h"
#include "vm/vm_find.h"
#include "vm/vm_object.h"
#include "vm/vm_seen.h"

enum { KEY_VM = 256, KEY_FILES };

struct env {
	struct cli_files files;
	struct tasks tasks;
	const char *vm;		/* a virtual machine, or NULL */
	bool vm_files;		/* its files, each for itself */
};

/* A path, or what names processes. */
static int remove_text(int fd, const char *text)
{
	char *escaped = text_escape(text);
	char *command = xasprintf("remove %s", escaped);
	int err = proc_command(fd, command);

	free(command);
	free(escaped);
	return err;
}

static int remove_path(int fd, const char *path)
{
	char *spelled = target_spelled(path);
	int err = remove_text(fd, spelled);

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

static int remove_tasks(int fd, const char *text)
{
	int err = remove_text(fd, text);

	return err ? explain_remove(text, err) : CLI_OK;
}

/*
 * A path is left to the module, which removes only the link of that path, or the
 * link that a renamed file left behind. The name of the target, or a hard link
 * that was not added, removes the target with all of its links.
 */
static int remove_meant(int fd, const struct target_list *list, const char *file)
{
	const struct target *target = target_find(list, file);
	int err;

	if (!target)
		return CLI_FAILED;
	if (target->tasks)
		return remove_tasks(fd, target->tasks);
	if (strcmp(file, target->name) || target_path(target, file)) {
		err = remove_path(fd, file);
		if (!err)
			return CLI_OK;
		if (err != -ENOENT || target_path(target, file))
			return explain_remove(file, err);
	}
	return remove_links(fd, list, target);
}

static int remove_named(int fd, const struct target_list *list, const char *file)
{
	char *meant = target_meant(list, file);
	int status = remove_meant(fd, list, meant);

	free(meant);
	return status;
}

/* Removes all that a target is listed by. Returns 0 or the last error. */
static int remove_target(int fd, const struct target *target)
{
	int err = target->tasks ? remove_text(fd, target->tasks) : 0;
	size_t i;

	for (i = 0; i < target->nr_paths; i++) {
		int failed = remove_path(fd, target->paths[i]);

		if (failed)
			err = failed;
	}
	return err;
}

/* As above, of all targets. */
static int remove_listed(int fd, const struct target_list *list)
{
	int err = 0;
	size_t i;

	for (i = 0; i < list->nr; i++) {
		int failed = remove_target(fd, &list->targets[i]);

		if (failed)
			err = failed;
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

/* Removes the targets that options name. */
static int remove_resolved(int fd, const struct target_list *list, struct tasks *tasks)
{
	int status = tasks_resolve(tasks, list);
	size_t i;

	for (i = 0; i < tasks->nr; i++) {
		const char *text = tasks->at[i].text;

		if (!text)
			continue;
		if (target_of_tasks(list, text)) {
			status = cli_merge(status, remove_tasks(fd, text));
		} else {
			cli_say_of(text, "not traced (iotracer list)");
			status = cli_merge(status, CLI_FAILED);
		}
	}
	return status;
}

/* Of the files of the machine those that are traced. */
static int remove_machine_files(int fd, const struct target_list *list, const char *name, const json_t *machine)
{
	int status = CLI_OK, removed = 0;
	struct vm_files files;
	size_t i;

	vm_files(&files, machine, VM_UNPLUGGED);
	for (i = 0; i < files.nr; i++) {
		const struct target *target = target_at(list, files.names[i]);

		if (target) {
			status = cli_merge(status, remove_links(fd, list, target));
			removed++;
		}
	}
	vm_files_free(&files);
	if (removed)
		return status;
	cli_say_of(name, "none of its files is traced (iotracer list)");
	return CLI_FAILED;
}

/* What add --vm has added, also of a machine that has ended. */
static int remove_machine(int fd, const struct target_list *list, const struct env *env)
{
	json_t *machine = vm_named_or_ended(env->vm);
	int status = CLI_FAILED;
	char *text;

	if (!machine)
		return CLI_FAILED;
	text = xasprintf("pid=%d", vm_pid(machine));
	if (env->vm_files)
		status = remove_machine_files(fd, list, env->vm, machine);
	else if (target_of_tasks(list, text))
		status = remove_tasks(fd, text);
	else
		cli_say_of(env->vm, "not traced (iotracer list); its files are removed with --files");
	free(text);
	json_decref(machine);
	vm_seen_clean();
	return status;
}

static int remove_listed_and_named(struct env *env, struct target_list *list)
{
	int fd = proc_open(NULL, "control", O_WRONLY);
	int status = CLI_OK;
	size_t i;

	if (fd < 0)
		return proc_explain(proc_root(), NULL, "control", fd);
	if (env->files.all)
		status = remove_all(fd, list);
	for (i = 0; i < env->files.nr; i++)
		status = cli_merge(status, remove_named(fd, list, env->files.names[i]));
	status = cli_merge(status, remove_resolved(fd, list, &env->tasks));
	if (env->vm)
		status = cli_merge(status, remove_machine(fd, list, env));
	close(fd);
	return status;
}

static error_t parse_remove(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	if (key == KEY_VM)
		env->vm = arg;
	if (key == KEY_FILES)
		env->vm_files = true;
	if (key == KEY_VM || key == KEY_FILES)
		return 0;
	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = &env->tasks;
	if (key == ARGP_KEY_END && (env->tasks.nr || env->vm) && env->files.all)
		cli_usage(state, "say either which processes or --all");
	if (key == ARGP_KEY_END && env->vm_files && !env->vm)
		cli_usage(state, "--files goes with --vm");
	if (key == ARGP_KEY_END && (env->tasks.nr || env->vm) && !env->files.nr)
		return 0;
	return cli_parse_files(&env->files, key, state);
}

int command_remove(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "all", 'a', NULL, 0, "all that is traced", 0 },
		{ "vm", KEY_VM, "NAME|PID", 0, "a virtual machine of QEMU, as by add --vm, also one that has ended", 0 },
		{ "files", KEY_FILES, NULL, 0, "with --vm: instead, each image and device that it uses, as by add --vm --files", 0 },
		{ 0 }
	};
	static const struct argp argp = {
		options, parse_remove,
		"FILE...\n--all\n--vm=NAME|PID [--files]\n--pid=PID|--comm=NAME|--cgroup=PATH|--unit=NAME|--container=NAME|ID...",
		"Trace files, or processes and services, no longer and drop their events.\v"
		"FILE is a path, the name of a target, or what list shows of processes. When several paths of one"
		" file were added, a path removes only itself, and the target goes with"
		" the last; the name of the target, or a hard link that was not added,"
		" removes them all. A renamed file's new name stands for its old one. Units and"
		" containers are looked for among what is traced, whether they run or not.",
		tasks_options, NULL, NULL
	};
	struct env env = { 0 };
	struct target_list list;
	int status;
	int err;

	cli_parse(&argp, argc, argv, 0, &env);
	err = target_list_load(&list);
	status = err ? proc_explain(proc_root(), NULL, "control", err) :
		       remove_listed_and_named(&env, &list);
	target_list_free(&list);
	tasks_free(&env.tasks);
	return status;
}
