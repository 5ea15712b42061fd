// SPDX-License-Identifier: GPL-2.0
/* iotracer list: the targets and the paths they were added by. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "command.h"
#include "json.h"
#include "proc.h"
#include "target.h"
#include "text.h"

struct env {
	enum cli_format format;
};

static void print_target(const struct target *t, const char *name, int width)
{
	size_t i;

	for (i = 0; i < t->nr_paths; i++) {
		char *path = text_show(t->paths[i], strlen(t->paths[i]));

		printf("%s%-*s%s  %s%s\n", CLI_BOLD, width, name, CLI_PLAIN, path,
		       t->deleted[i] ? " (deleted)" : "");
		free(path);
	}
}

static void print_text(const struct target_list *list)
{
	char **names = cli_grow(NULL, list->nr, sizeof(*names));
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
	size_t i, j;

	for (i = 0; i < list->nr; i++) {
		const struct target *t = &list->targets[i];
		json_t *target = json_object();
		json_t *paths = json_array(), *deleted = json_array();

		for (j = 0; j < t->nr_paths; j++) {
			json_add(paths, json_shown(t->paths[j]));
			if (t->deleted[j])
				json_add(deleted, json_shown(t->paths[j]));
		}
		json_put(target, "target", json_shown(t->name));
		json_put(target, "paths", paths);
		json_put(target, "deleted", deleted);
		json_add(document, target);
	}
	json_print(document);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case 'f':
		env->format = cli_parse_format(state, arg, false);
		return 0;
	case ARGP_KEY_ARG:
		cli_usage(state, "%s: list takes no file (status does)", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int command_list(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "format", 'f', "FORMAT", 0, "text (default) or json", 0 },
		{ 0 }
	};
	static const struct argp argp = {
		options, parse, NULL,
		"List the traced files: the name of the target and the path it was added"
		" by, one line a path.\v"
		"In a path \\ooo stands for a control character, a backslash or a byte"
		" that is not UTF-8.", cli_common, NULL, NULL
	};
	struct env env = { FORMAT_TEXT };
	struct target_list list;
	int status = CLI_OK;
	int err;

	cli_parse(&argp, argc, argv, 0, &env);
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
