// SPDX-License-Identifier: GPL-2.0
/* iotracer waiting: the calls of categories that wait now. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "module/control.h"
#include "module/proc.h"
#include "record/waiting.h"
#include "trace/categories.h"

struct env {
	struct cli_words words;
	enum cli_format format;
	json_t *document;
	size_t nr;		/* categories that were read */
};

static void show(struct env *env, const char *category, const json_t *listed)
{
	json_t *call, *object;
	char *line;
	size_t i;

	json_array_foreach(listed, i, call) {
		if (env->format == FORMAT_JSON) {
			object = json_object();
			json_put(object, "category", json_string(category));
			json_object_update(object, call);
			json_add(env->document, object);
			continue;
		}
		line = waiting_line(call);
		printf("%s%-6s%s %s\n", CLI_BOLD, category, CLI_PLAIN, line);
		free(line);
	}
}

/* Returns 0 or a negative errno. */
static int show_category(struct env *env, const char *category)
{
	json_t *found;
	int err = waiting_read(category, NULL, ANY_NUMBER, &found);

	if (err)
		return err;
	env->nr++;
	show(env, category, json_object_get(found, "listed"));
	json_decref(found);
	return 0;
}

static bool is_there(const char *category)
{
	char *text;
	int err = proc_read(category, "control", &text);

	free(text);
	return !err;
}

static int show_named(struct env *env, const char *name)
{
	const struct category *category = category_find(name, strlen(name));
	int err = category ? show_category(env, category->name) : 0;

	if (!category) {
		cli_say_of(name, "there is no such category: say net, conn or epoll");
		return CLI_USAGE;
	}
	if (err == -ENOENT && is_there(category->name)) {
		cli_say_of(name, "its calls do not wait without limit: say net, conn or epoll");
		return CLI_USAGE;
	}
	return err ? control_explain(category->name, "waiting", err) : CLI_OK;
}

/* A category without such calls, or without its part of the module, has no file. */
static int show_all(struct env *env)
{
	int status = CLI_OK, err;
	size_t i;

	for (i = 0; i < nr_categories; i++) {
		err = show_category(env, categories[i]->name);
		if (err && err != -ENOENT)
			status = cli_merge(status, control_explain(categories[i]->name, "waiting", err));
	}
	if (!status && !env->nr)
		status = proc_explain(proc_root(), NULL, "*/waiting", -ENOENT);
	return status;
}

static int run(int argc, char **argv)
{
	struct env env = { .format = FORMAT_TEXT };
	int status = CLI_OK;
	size_t i;

	command_parse(&command_waiting, argc, argv, &env);
	env.document = json_array();
	for (i = 0; i < env.words.nr; i++)
		status = cli_merge(status, show_named(&env, env.words.at[i]));
	if (!env.words.nr)
		status = show_all(&env);
	if (env.format == FORMAT_JSON && env.nr)
		json_print(json_incref(env.document));
	json_decref(env.document);
	return status;
}

static const struct cli_option options[] = {
	{ "format", 'f', "FORMAT", "output format: text (default) or json",
	  TO_FORMAT(struct env, format), "text json" },
	{ 0 }
};

const struct command command_waiting = {
	.name = "waiting",
	.summary = "list the calls that wait now, for data, a connection or an event",
	.synopsis = "[CATEGORY...]",
	.help =
		"List the calls that have not ended, and so have no record yet: sends and receives of category net,"
		" accept and connect of conn, waits of epoll, or those of the categories that are named. One line"
		" for each thread, which the filter of the category selects, whether it is started or not.",
	.options = options,
	.operands = { .most = ANY_NUMBER, .values = VALUES_CATEGORY },
	.words = offsetof(struct env, words),
	.run = run,
};
