// SPDX-License-Identifier: GPL-2.0
/* iotracer list: the targets and what they were added by. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "module/proc.h"
#include "module/target.h"

struct env {
	enum cli_format format;
};

static void print_line(const char *name, int width, const char *text, const char *state)
{
	char *shown = target_show(text);

	printf("%s%-*s%s  %s%s\n", CLI_BOLD, width, name, CLI_PLAIN, shown, state);
	free(shown);
}

static void print_target(const struct target *t, const char *name, int width)
{
	size_t i;

	for (i = 0; i < t->nr_paths; i++)
		print_line(name, width, t->paths[i], t->deleted[i] ? " (deleted)" : "");
	if (t->tasks)
		print_line(name, width, t->tasks, target_remarks(t));
}

static void print_text(const struct target_list *list)
{
	char **names = xreallocarray(NULL, list->nr, sizeof(*names));
	size_t width = 0;
	size_t i;

	for (i = 0; i < list->nr; i++) {
		const char *name = list->targets[i].name;

		names[i] = text_show(name, strlen(name));
		if (strlen(names[i]) > width)
			width = strlen(names[i]);
	}
	for (i = 0; i < list->nr; i++) {
		print_target(&list->targets[i], names[i], width);
		free(names[i]);
	}
	free(names);
}

static void print_json(const struct target_list *list)
{
	json_t *document = json_array();
	size_t i;

	for (i = 0; i < list->nr; i++)
		json_add(document, target_json(&list->targets[i]));
	json_print(document);
}

static int run(int argc, char **argv)
{
	struct env env = { FORMAT_TEXT };
	struct target_list list;
	int status = CLI_OK;
	int err;

	command_parse(&command_list, argc, argv, &env);
	err = target_list_load(&list);
	if (err)
		status = proc_explain(proc_root(), NULL, "control", err);
	else if (env.format == FORMAT_JSON)
		print_json(&list);
	else
		print_text(&list);
	target_list_free(&list);
	return status;
}

static const struct cli_option options[] = {
	{ "format", 'f', "FORMAT", "output format: text (default) or json",
	  TO_FORMAT(struct env, format), "text json" },
	{ 0 }
};

const struct command command_list = {
	.name = "list",
	.summary = "list the targets",
	.help =
		"List the targets: one line for each path by which a target was added, or for the processes"
		" that it traces. (deleted) marks a path that no longer leads to a file, (network) processes"
		" whose sockets are in the log, too, (ended) a process that has exited or a control group that"
		" does not exist now.\v"
		"In a name, \\ooo stands for a control character, a backslash or a byte"
		" that is not UTF-8. Other commands accept names as they are shown here.",
	.options = options,
	.operands = { .excess = "list takes no file (status does)" },
	.run = run,
};
