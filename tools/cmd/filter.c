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
	struct cli_words words;
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

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	struct env *env = to;
	const char *name = env->words.nr ? env->words.at[0] : NULL;
	size_t i;

	(void)given;
	if (!name)
		cli_usage(state, "say which category: %s", category_names());
	env->category = category_find(name, strlen(name));
	if (!env->category)
		cli_usage(state, "there is no category \"%s\" (there are: %s)", name, category_names());
	for (i = 1; i < env->words.nr; i++)
		add_words(state, env, env->words.at[i]);
}

static int run(int argc, char **argv)
{
	struct env env = { 0 };
	char *command;
	int status;

	command_parse(&command_filter, argc, argv, &env);
	if (!env.filter)
		return show_filter(env.category);
	command = xasprintf("filter %s", env.filter);
	status = control_command_once(env.category->name, command);
	free(command);
	free(env.filter);
	return status;
}

const struct command command_filter = {
	.name = "filter",
	.summary = "show or set which events a category records",
	.synopsis = "CATEGORY\nCATEGORY KEY=VALUE...\nCATEGORY none",
	.help =
		"Show or set the filter of a category: it records only events that meet all"
		" conditions.\v"
		"CATEGORY is one of {categories}. KEY is one of {keys}; iotracer(4) says which categories"
		" accept which keys. The word none removes the filter.",
	.operands = { .most = ANY_NUMBER, .values = VALUES_CATEGORY | VALUES_FILTER },
	.words = offsetof(struct env, words),
	.check = check,
	.filter = category_help,
	.run = run,
};
