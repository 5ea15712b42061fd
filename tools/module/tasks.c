// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "machine/cgroup.h"
#include "machine/container.h"
#include "module/target.h"
#include "module/tasks.h"

#define COMM_MAX	15	/* bytes of the name of a thread */
#define CGROUP		"cgroup="

/* --- options -------------------------------------------------------------------- */

static void check_comm(struct argp_state *state, const char *name)
{
	if (strlen(name) > COMM_MAX)
		cli_usage(state, "--comm=%s: a thread's name has %d bytes at most, the kernel cuts it off: say \"%.*s\"",
			  name, COMM_MAX, COMM_MAX, name);
}

static void add_one(struct tasks *tasks, enum tasks_kind kind, struct argp_state *state, char *value)
{
	if (!*value)
		cli_usage(state, "the name of a process or service is empty");
	tasks->at = xreallocarray(tasks->at, tasks->nr + 1, sizeof(*tasks->at));
	tasks->at[tasks->nr++] = (struct tasks_named){ .kind = kind, .value = value };
}

static void take_pid(struct argp_state *state, void *to, const char *arg)
{
	if (*arg)
		option_number(state, "pid", arg, 1, INT_MAX);
	add_one(to, TASKS_PID, state, xstrdup(arg));
}

/* NAME,...: a comma in a name is \054, as in filters. */
static void take_comm(struct argp_state *state, void *to, const char *names)
{
	for (;; names++) {
		size_t length = strcspn(names, ",");
		char *name = xasprintf("%.*s", (int)length, names);

		text_unescape(name);
		check_comm(state, name);
		add_one(to, TASKS_COMM, state, name);
		names += length;
		if (!*names)
			return;
	}
}

static void take_cgroup(struct argp_state *state, void *to, const char *arg)
{
	add_one(to, TASKS_CGROUP, state, xstrdup(arg));
}

static void take_unit(struct argp_state *state, void *to, const char *arg)
{
	add_one(to, TASKS_UNIT, state, xstrdup(arg));
}

static void take_container(struct argp_state *state, void *to, const char *arg)
{
	add_one(to, TASKS_CONTAINER, state, xstrdup(arg));
}

static bool has(const struct tasks *tasks, enum tasks_kind kind)
{
	size_t i;

	for (i = 0; i < tasks->nr; i++)
		if (tasks->at[i].kind == kind)
			return true;
	return false;
}

static void check(struct argp_state *state, void *to)
{
	const struct tasks *tasks = to;

	if (tasks->follow && !has(tasks, TASKS_PID))
		cli_usage(state, "--follow goes with --pid: a control group always has the children of its processes, so --cgroup, --unit and --container need none; --comm goes by the name alone");
}

static const struct cli_option options[] = {
	{ "pid", 0, "PID", "the process PID with all its threads",
	  OPTION_TAKE, .take = take_pid, .values = VALUES_PID },
	{ "follow", 0, NULL, "with --pid: also all descendants of the process, present and future",
	  TO_FLAG(struct tasks, follow) },
	{ "comm", 0, "NAME,...",
	  "the threads called NAME, and all threads of processes called NAME",
	  OPTION_TAKE, .take = take_comm, .values = VALUES_COMM | VALUES_LIST },
	{ "cgroup", 0, "PATH",
	  "a control group and those below it; PATH is as in /proc/PID/cgroup after 0::, or a path to its directory",
	  OPTION_TAKE, .take = take_cgroup, .values = VALUES_CGROUP | VALUES_FILE },
	{ "unit", 0, "NAME", "a service, or another unit of systemd; the suffix .service may be omitted",
	  OPTION_TAKE, .take = take_unit, .values = VALUES_UNIT },
	{ "container", 0, "NAME|ID",
	  "a container of podman, docker, CRI-O or containerd, by its name, its ID, or at least the first four digits of its ID",
	  OPTION_TAKE, .take = take_container, .values = VALUES_CONTAINER },
	{ 0 }
};

const struct option_group tasks_options = {
	"Processes and services (these options may be repeated):", options, check
};

/* --- texts ---------------------------------------------------------------------- */

static bool is_searched(enum tasks_kind kind)
{
	return kind == TASKS_UNIT || kind == TASKS_CONTAINER;
}

static bool load_groups(struct cgroups *groups, const struct target_list *traced)
{
	size_t i;

	groups->traced = traced;
	if (!traced)
		return cgroups_load(groups);
	for (i = 0; i < traced->nr; i++) {
		const char *text = traced->targets[i].tasks;

		if (text && !strncmp(text, CGROUP, strlen(CGROUP)))
			cgroups_add(groups, text + strlen(CGROUP));
	}
	return true;
}

static char *group_of(const struct tasks_named *named, const struct cgroups *groups)
{
	switch (named->kind) {
	case TASKS_UNIT:
		return cgroups_unit(groups, named->value);
	case TASKS_CONTAINER:
		return container_find(groups, named->value);
	default:
		return cgroup_path(named->value);
	}
}

static char *text_of(const struct tasks_named *named, bool follow, const struct cgroups *groups)
{
	char *group, *text;

	if (named->kind == TASKS_PID)
		return xasprintf("%s=%d", follow ? "tree" : "pid", atoi(named->value));
	if (named->kind == TASKS_COMM)
		return xasprintf("comm=%s", named->value);
	group = group_of(named, groups);
	text = group ? xasprintf(CGROUP "%s", group) : NULL;
	free(group);
	return text;
}

int tasks_resolve(struct tasks *tasks, const struct target_list *traced)
{
	bool search = has(tasks, TASKS_UNIT) || has(tasks, TASKS_CONTAINER);
	struct cgroups groups = { 0 };
	int status = CLI_OK;
	size_t i;

	if (search)
		search = load_groups(&groups, traced);
	for (i = 0; i < tasks->nr; i++) {
		struct tasks_named *named = &tasks->at[i];

		if (search || !is_searched(named->kind))
			named->text = text_of(named, tasks->follow, &groups);
		if (!named->text)
			status = CLI_FAILED;
	}
	cgroups_free(&groups);
	return status;
}

void tasks_free(struct tasks *tasks)
{
	while (tasks->nr) {
		tasks->nr--;
		free(tasks->at[tasks->nr].text);
		free(tasks->at[tasks->nr].value);
	}
	free(tasks->at);
	tasks->at = NULL;
}
