// SPDX-License-Identifier: GPL-2.0
/*
 * iotracer complete: what a shell can offer for the last word of a command line.
 *
 * The scripts in completion/ call it with the words so far, of which the last is incomplete and may
 * be empty. It prints what that word can become: a line for each, with its meaning behind a tab.
 * A line that begins with a tab says what the shell has to find itself, and which beginning of the
 * word is not part of it:
 *
 *	<tab>files<tab>BEGINNING	a file, for instance behind --output=
 *	<tab>directories<tab>BEGINNING
 *	<tab>command<tab>N		another program's command line, which begins at word N
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "cmd/values.h"
#include "trace/categories.h"

/* A command line, as far as it was read. */
struct line {
	struct values values;		/* what the last word can become */
	const struct command *command;
	const struct action *action;
	const struct cli_option *pending;	/* the option whose argument comes next */
	size_t operands;		/* without the action */
	size_t first;			/* the word at which operands begin */
	bool ended;			/* there was a -- */
};

static const struct { const char *name, *help; } common[] = {
	{ "--color", "colour: auto, always or never" },
	{ "--help", "show the help" },
	{ "--usage", "show the usage in short" },
	{ "--version", "show the version" },
};

static const struct cli_option color[] = {
	{ "color", 0, "WHEN", .words = "auto always never" },
	{ 0 }
};

static const struct cli_option *lettered(const struct cli_option *o, char letter)
{
	for (; o && o->name; o++)
		if (o->letter == letter)
			return o;
	return NULL;
}

static const struct cli_option *find_long(const struct line *l, const char *name)
{
	size_t length = strcspn(name, "=");
	const struct cli_option *o = NULL;

	if (l->command)
		o = option_find(l->command->options, name, length);
	if (!o && l->command && l->command->group)
		o = option_find(l->command->group->options, name, length);
	return o ? o : option_find(color, name, length);
}

/* The option of a cluster as -zf that takes the next word, or NULL. */
static const struct cli_option *find_short(const struct line *l, const char *letters)
{
	for (; *letters; letters++) {
		const struct cli_option *o = l->command ? lettered(l->command->options, *letters) : NULL;

		if (o && o->argument)
			return letters[1] ? NULL : o;
	}
	return NULL;
}

static void read_operand(struct line *l, const char *word, size_t i)
{
	if (!l->command) {
		l->command = command_find(word);
		return;
	}
	if (l->command->actions && !l->action && !l->operands) {
		const struct cli_words one = { (char **)&word, 1 };

		l->action = command_action(l->command, &one);
		if (l->action)
			return;
	}
	if (!l->operands++)
		l->first = i;
	if (l->operands == 1)
		l->values.category = category_find(word, strlen(word));
	if (l->command->flags & ARGP_IN_ORDER)
		l->ended = true;
}

static void read_word(struct line *l, const char *word, size_t i)
{
	if (l->pending) {
		/* --color needs no argument, and then it is behind a = */
		l->pending = NULL;
	} else if (l->ended || *word != '-' || !word[1]) {
		read_operand(l, word, i);
	} else if (!strcmp(word, "--")) {
		l->ended = true;
		l->first = i + 1;
	} else if (word[1] == '-') {
		const struct cli_option *o = strchr(word, '=') ? NULL : find_long(l, word + 2);

		l->pending = o && o->argument && o != color ? o : NULL;
	} else {
		l->pending = find_short(l, word + 1);
	}
}

static void offer_options_of(struct line *l, const struct cli_option *o)
{
	for (; o && o->name; o++) {
		char *word, *help;

		if (l->action && o->action && strcmp(o->action, l->action->name))
			continue;
		help = l->command->filter ? l->command->filter(0, o->help, NULL) : (char *)o->help;
		word = xasprintf("--%s", o->name);
		values_offer(&l->values, word, help);
		if (help != o->help)
			free(help);
		free(word);
	}
}

static void offer_options(struct line *l)
{
	size_t i;

	if (l->command) {
		offer_options_of(l, l->command->options);
		if (l->command->group)
			offer_options_of(l, l->command->group->options);
	}
	for (i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		values_offer(&l->values, common[i].name, common[i].help);
}

static void offer_operand(struct line *l)
{
	const struct command *c = l->command;
	const struct operands *o = l->action ? &l->action->operands : &c->operands;
	unsigned int values = o->values;
	const char *words = NULL;
	const struct action *a;

	if (c->actions && !l->action) {
		for (a = c->actions; !l->operands && a->name; a++)
			values_offer(&l->values, a->name, NULL);
		return;
	}
	if (l->operands >= o->most)
		return;
	/* of filter the first is a category, the others are conditions */
	if (values & VALUES_FILTER && values & VALUES_CATEGORY) {
		values = l->operands ? VALUES_FILTER : VALUES_CATEGORY;
		words = l->operands ? "none" : NULL;
	}
	if (values & VALUES_COMMAND)
		printf("\tcommand\t%zu\n", l->ended && l->first ? l->first : l->values.nr_words);
	values_offer_all(&l->values, values, words);
}

static void offer_last(struct line *l, const char *word)
{
	const char *equals = strchr(word, '=');
	const struct cli_option *o = NULL;

	if (l->pending) {
		values_offer_all(&l->values, l->pending->values, l->pending->words);
	} else if (l->ended || *word != '-') {
		if (l->command)
			offer_operand(l);
		else
			values_offer_all(&l->values, VALUES_SUBCOMMAND, NULL);
	} else if (word[1] == '-' && equals) {
		o = find_long(l, word + 2);
		if (!o || !o->argument)
			return;
		values_skip(&l->values, equals + 1 - word);
		values_offer_all(&l->values, o->values, o->words);
	} else {
		offer_options(l);
	}
}

static int run(int argc, char **argv)
{
	struct cli_words words = { 0 };
	struct line line = { 0 };
	size_t i;

	command_parse(&command_complete, argc, argv, &words);
	line.values.word = words.nr ? words.at[words.nr - 1] : "";
	line.values.nr_words = words.nr ? words.nr - 1 : 0;
	for (i = 0; i + 1 < words.nr; i++)
		read_word(&line, words.at[i], i);
	offer_last(&line, line.values.word);
	return CLI_OK;
}

const struct command command_complete = {
	.name = "complete",
	.synopsis = "-- [WORD...]",
	.help =
		"Print the possible completions of the last WORD of an iotracer command line. The completion"
		" scripts for bash, zsh and fish call this command.\v"
		"The WORDs are those after iotracer; the last one is incomplete and may be empty."
		" Each line has a word and, after a tab, its meaning. A line that begins with a tab means"
		" that the word is a file, a directory, or part of another program's command line.",
	.operands = { .most = ANY_NUMBER },
	.flags = ARGP_IN_ORDER,
	.run = run,
};
