// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/option.h"
#include "cmd/command.h"

const struct command *const *commands;
size_t nr_commands;

/* What argp hands to the parsers. */
struct parse {
	const struct command *command;
	struct option_parser options, group;
	struct cli_words words;
	void *env;
};

const struct command *command_find(const char *name)
{
	size_t i;

	for (i = 0; i < nr_commands; i++)
		if (!strcmp(name, commands[i]->name))
			return commands[i];
	return NULL;
}

const struct action *command_action(const struct command *c, const struct cli_words *words)
{
	const struct action *a;

	for (a = c->actions; words->nr && a->name; a++)
		if (!strcmp(words->at[0], a->name))
			return a;
	return NULL;
}

static const struct action *find_action(const struct parse *p, struct argp_state *state)
{
	const struct cli_words *words = &p->words;
	const struct action *a = command_action(p->command, words);

	if (!words->nr)
		cli_usage(state, "%s", p->command->actions_missing);
	if (!a)
		cli_usage(state, "%s: %s", words->at[0], p->command->actions_missing);
	return a;
}

/* @skip: 1 for the name of an action, which messages begin with. */
static void check_operands(const struct parse *p, struct argp_state *state, const struct operands *o,
			   size_t skip)
{
	const struct cli_words *words = &p->words;
	size_t nr = words->nr - skip;
	const char *action = skip ? words->at[0] : "", *colon = skip ? ": " : "";

	if (nr < o->least)
		cli_usage(state, "%s%s%s", action, colon, o->missing);
	if (nr > o->most)
		cli_usage(state, "%s%s%s: %s", action, colon, words->at[skip + o->most], o->excess);
}

static void check(const struct parse *p, struct argp_state *state)
{
	const struct command *c = p->command;
	const struct action *a = c->actions ? find_action(p, state) : NULL;

	option_check(&p->options, state, a ? a->name : NULL);
	check_operands(p, state, a ? &a->operands : &c->operands, !!a);
	if (c->actions || c->operands.most)
		*(struct cli_words *)((char *)p->env + c->words) = p->words;
	if (c->check)
		c->check(state, p->env, &p->options);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = p;
		return 0;
	case ARGP_KEY_ARGS:
		p->words.at = state->argv + state->next;
		p->words.nr = state->argc - state->next;
		return 0;
	case ARGP_KEY_END:
		check(p, state);
		return 0;
	default:
		return option_parse(&p->options, key, arg, state);
	}
}

/* argp ends children before their parent, so a group is checked before the command. */
static error_t parse_group(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;

	if (key != ARGP_KEY_END)
		return option_parse(&p->group, key, arg, state);
	option_check(&p->group, state, NULL);
	if (p->command->group->check)
		p->command->group->check(state, p->group.env);
	return 0;
}

void command_parse(const struct command *c, int argc, char **argv, void *env)
{
	const struct option_group *g = c->group;
	struct parse p = { .command = c, .env = env };
	struct argp group = { .parser = parse_group, .children = cli_common };
	const struct argp_child children[] = { { &group, 0, NULL, 0 }, { 0 } };
	struct argp argp = {
		.parser = parse, .args_doc = c->synopsis, .doc = c->help,
		.children = g ? children : cli_common, .help_filter = c->filter,
	};

	option_parser_open(&p.options, c->options, NULL, env);
	option_parser_open(&p.group, g ? g->options : NULL, g ? g->title : NULL,
			   (char *)env + c->group_at);
	argp.options = p.options.argp;
	group.options = p.group.argp;
	cli_parse(&argp, argc, argv, c->flags, &p);
	option_parser_close(&p.options);
	option_parser_close(&p.group);
}
