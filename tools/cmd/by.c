// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "base/cli.h"
#include "cmd/by.h"

void by_take(struct argp_state *state, struct stats_keys *keys, const char *arg)
{
	char *words = (char *)arg, *word, *why;

	while ((word = strsep(&words, ","))) {
		if (keys->nr == BY_KEYS)
			cli_usage(state, "--by=%s: say two keys at most", word);
		why = stats_keys_add(keys, word);
		if (why)
			cli_usage(state, "--by=%s: %s", word, why);
	}
}

int by_open(struct stats_keys *keys, const struct pass *pass, size_t i, bool *has)
{
	const struct category *category = pass->at[i].category;
	const char *lacks;

	keys->merged = pass->sources.nr;
	lacks = stats_keys_open(keys, category_event(category), &pass->names);
	*has = !lacks;
	if (lacks && pass->nr_named) {
		cli_say("--by=%s: events of category %s have no %s", lacks, category->name, lacks);
		return CLI_USAGE;
	}
	if (lacks)
		cli_say("category %s is left out: its events have no %s", category->name, lacks);
	return CLI_OK;
}
