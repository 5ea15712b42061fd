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

enum { KEY_PID = 512, KEY_FOLLOW, KEY_COMM, KEY_CGROUP, KEY_UNIT, KEY_CONTAINER };

/* --- options -------------------------------------------------------------------- */

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "Processes and services, any number of them:", 10 },
	{ "pid", KEY_PID, "PID", 0, "the process with this ID, all its threads", 10 },
	{ "follow", KEY_FOLLOW, NULL, 0, "with --pid: and all its descendants, also those to come", 10 },
	{ "comm", KEY_COMM, "NAME,...", 0,
	  "the threads with this name, and all threads of a process with this name", 10 },
	{ "cgroup", KEY_CGROUP, "PATH", 0,
	  "the control group and those below it; PATH is what /proc/PID/cgroup shows after 0::, or a path of its directory",
	  10 },
	{ "unit", KEY_UNIT, "NAME", 0, "the service or other unit of systemd; .service may be left out", 10 },
	{ "container", KEY_CONTAINER, "NAME|ID", 0,
	  "the container of podman, docker, CRI-O or containerd; four digits of ID are enough if no other begins so",
	  10 },
	{ 0 }
};

static void check_comm(struct argp_state *state, const char *name)
{
	if (strlen(name) > COMM_MAX)
		cli_usage(state, "--comm=%s: a thread's name has %d bytes at most, the kernel cuts it off: say \"%.*s\"",
			  name, COMM_MAX, COMM_MAX, name);
}

/* Keeps @value. */
static void add_one(struct tasks *tasks, struct argp_state *state, int key, char *value)
{
	if (!*value)
		cli_usage(state, "the name of a process or service is empty");
	if (key == KEY_PID)
		cli_parse_number(state, "--pid", value, 1, INT_MAX);
	if (key == KEY_COMM)
		check_comm(state, value);
	tasks->at = xreallocarray(tasks->at, tasks->nr + 1, sizeof(*tasks->at));
	tasks->at[tasks->nr++] = (struct tasks_named){ .key = key, .value = value };
}

/* NAME,...: a comma in a name is \054, as in filters. */
static void add_comms(struct tasks *tasks, struct argp_state *state, const char *names)
{
	for (;; names++) {
		size_t length = strcspn(names, ",");
		char *name = xasprintf("%.*s", (int)length, names);

		text_unescape(name);
		add_one(tasks, state, KEY_COMM, name);
		names += length;
		if (!*names)
			return;
	}
}

static void add(struct tasks *tasks, struct argp_state *state, int key, const char *value)
{
	if (key == KEY_COMM)
		add_comms(tasks, state, value);
	else
		add_one(tasks, state, key, xstrdup(value));
}

static bool has(const struct tasks *tasks, int key)
{
	size_t i;

	for (i = 0; i < tasks->nr; i++)
		if (tasks->at[i].key == key)
			return true;
	return false;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct tasks *tasks = state->input;

	switch (key) {
	case KEY_PID:
	case KEY_COMM:
	case KEY_CGROUP:
	case KEY_UNIT:
	case KEY_CONTAINER:
		add(tasks, state, key, arg);
		return 0;
	case KEY_FOLLOW:
		tasks->follow = true;
		return 0;
	case ARGP_KEY_END:
		if (tasks->follow && !has(tasks, KEY_PID))
			cli_usage(state, "--follow goes with --pid: a control group always has the children of its processes, so --cgroup, --unit and --container need none; --comm goes by the name alone");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp tasks_argp = { options, parse, NULL, NULL, cli_common, NULL, NULL };

const struct argp_child tasks_options[] = {
	{ &tasks_argp, 0, NULL, 0 },
	{ 0 }
};

/* --- texts ---------------------------------------------------------------------- */

static bool is_searched(int key)
{
	return key == KEY_UNIT || key == KEY_CONTAINER;
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
	switch (named->key) {
	case KEY_UNIT:
		return cgroups_unit(groups, named->value);
	case KEY_CONTAINER:
		return container_find(groups, named->value);
	default:
		return cgroup_path(named->value);
	}
}

static char *text_of(const struct tasks_named *named, bool follow, const struct cgroups *groups)
{
	char *group, *text;

	if (named->key == KEY_PID)
		return xasprintf("%s=%d", follow ? "tree" : "pid", atoi(named->value));
	if (named->key == KEY_COMM)
		return xasprintf("comm=%s", named->value);
	group = group_of(named, groups);
	text = group ? xasprintf(CGROUP "%s", group) : NULL;
	free(group);
	return text;
}

int tasks_resolve(struct tasks *tasks, const struct target_list *traced)
{
	bool search = has(tasks, KEY_UNIT) || has(tasks, KEY_CONTAINER);
	struct cgroups groups = { 0 };
	int status = CLI_OK;
	size_t i;

	if (search)
		search = load_groups(&groups, traced);
	for (i = 0; i < tasks->nr; i++) {
		struct tasks_named *named = &tasks->at[i];

		if (search || !is_searched(named->key))
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
