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
	for (i = 0; i < env->files.named.nr; i++)
		status = cli_merge(status, remove_named(fd, list, env->files.named.at[i]));
	status = cli_merge(status, remove_resolved(fd, list, &env->tasks));
	if (env->vm)
		status = cli_merge(status, remove_machine(fd, list, env));
	close(fd);
	return status;
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;
	bool tasks = env->tasks.nr || env->vm;

	(void)given;
	if (tasks && env->files.all)
		cli_usage(state, "say either which processes or --all");
	if (!tasks || env->files.named.nr)
		cli_check_files(&env->files, state);
}

static int run(int argc, char **argv)
{
	struct env env = { 0 };
	struct target_list list;
	int status;
	int err;

	command_parse(&command_remove, argc, argv, &env);
	err = target_list_load(&list);
	status = err ? proc_explain(proc_root(), NULL, "control", err) :
		       remove_listed_and_named(&env, &list);
	target_list_free(&list);
	tasks_free(&env.tasks);
	return status;
}

static const struct cli_option options[] = {
	{ "all", 'a', NULL, "remove all targets", TO_FLAG(struct env, files.all) },
	{ "vm", 0, "NAME|PID", "remove the target that add --vm made for this virtual machine, even if the machine has ended",
	  TO_TEXT(struct env, vm), .values = VALUES_MACHINE },
	{ "files", 0, NULL,
	  "with --vm: remove instead the targets of the images and devices of the machine",
	  TO_FLAG(struct env, vm_files), .with = "vm" },
	{ 0 }
};

const struct command command_remove = {
	.name = "remove",
	.summary = "stop tracing files, directories, processes and services",
	.synopsis =
		"FILE...\n--all\n--vm=NAME|PID [--files]\n--pid=PID|--comm=NAME|--cgroup=PATH|--unit=NAME|--container=NAME|ID...",
	.help =
		"Stop tracing files, processes and services, and drop their events.\v"
		"FILE is a path, the name of a target, or the text that list shows for processes. If several"
		" paths of one file were added, naming one of them removes only that path; the target is"
		" removed with its last path. The name of the target, or a hard link that was not added,"
		" removes all of its paths. The new name of a renamed file stands for the old one. Units and"
		" containers are looked up among the targets, whether they are running or not.",
	.options = options,
	.group = &tasks_options, .group_at = offsetof(struct env, tasks),
	.operands = { .most = ANY_NUMBER, .values = VALUES_TARGET | VALUES_FILE },
	.words = offsetof(struct env, files.named),
	.check = check,
	.run = run,
};
