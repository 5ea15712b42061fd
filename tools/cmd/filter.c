// SPDX-License-Identifier: GPL-2.0
/* iotracer filter: which events a category records. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "module/control.h"
#include "module/filter.h"
#include "module/proc.h"
#include "trace/categories.h"
#include "trace/category.h"

struct env {
	const struct category *category;
	char *filter;		/* "k=v k=v" or "none"; NULL: show the filter */
};

/* Prints the filter as control shows it, which is a form that can be set again. */
static int show_filter(const struct category *category)
{
	const struct control c = { .category = category->name, .fd = -1, .commands = -1 };
	char *text = NULL, *filter;
	int err = proc_read(category->name, "control", &text);

	if (err)
		return control_explain(category->name, "control", err);
	free(text);
	filter = control_value(&c, "filter");
	puts(filter);
	free(filter);
	return CLI_OK;
}

static void add_word(struct argp_state *state, struct env *env, const char *word)
{
	char *why, *numbers = filter_numbers(word, &why);

	if (!numbers)
		cli_usage(state, "%s", why);
	env->filter = text_append(env->filter, " ", numbers);
	free(numbers);
}

/* An argument may have several conditions. */
static void add_words(struct argp_state *state, struct env *env, char *words)
{
	char *word;

	while ((word = strsep(&words, " ")))
		add_word(state, env, word);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct env *env = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (env->category) {
			add_words(state, env, arg);
			return 0;
		}
		env->category = category_find(arg, strlen(arg));
		if (!env->category)
			cli_usage(state, "there is no category \"%s\" (there are: %s)", arg,
				  category_names());
		return 0;
	case ARGP_KEY_NO_ARGS:
		cli_usage(state, "say which category: %s", category_names());
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int command_filter(int argc, char **argv)
{
	static const struct argp argp = {
		NULL, parse, "CATEGORY\nCATEGORY KEY=VALUE...\nCATEGORY none",
		"Show, or set, which events a category records: those that meet all"
		" conditions.\v"
		"CATEGORY is one of {categories}. KEY is one of {keys}; which of them a category"
		" has is in iotracer(4). With none all events are recorded.", cli_common,
		category_help, NULL
	};
	struct env env = { 0 };
	char *command;
	int status;

	cli_parse(&argp, argc, argv, 0, &env);
	if (!env.filter)
		return show_filter(env.category);
	command = xasprintf("filter %s", env.filter);
	status = control_command_once(env.category->name, command);
	free(command);
	free(env.filter);
	return status;
}
