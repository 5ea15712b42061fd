// SPDX-License-Identifier: GPL-2.0
/*
 * iotracer findings: known causes of slow or wasted I/O, with the rows of the trace that prove
 * them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "cmd/command.h"
#include "cmd/findings_pass.h"
#include "cmd/pass.h"
#include "core/nearest.h"
#include "trace/findings.h"

#define RULES 64	/* most ids of --rule */

struct env {
	struct cli_words words;
	struct pass pass;
	enum cli_format format;
	bool list;
	__u64 top;
	const char *rules[RULES];
	size_t nr_rules;
	struct findings_pass found;
};

/* --- the rules ------------------------------------------------------------------ */

typedef void (*rule_function)(struct env *env, const struct finding_watch *watch,
			      const struct finding_rule *rule);

static void each_rule(struct env *env, rule_function function)
{
	size_t i, j;

	for (i = 0; i < nr_finding_watches; i++)
		for (j = 0; j < finding_watches[i]->nr_rules; j++)
			if (finding_is_wanted(&env->found.findings, &finding_watches[i]->rules[j]))
				function(env, finding_watches[i], &finding_watches[i]->rules[j]);
}

static void list_rule(struct env *env, const struct finding_watch *watch,
		      const struct finding_rule *rule)
{
	(void)env;
	printf("%-18s%-9s%s\n%27s%s %s\n", rule->id, watch->category,
	       finding_severity_name(rule->severity), "", rule->events, rule->predicate);
}

/* --- the report ----------------------------------------------------------------- */

/* "fs: 9 events" and what is missing of them, for each category that was read. */
static void put_basis(const struct env *env)
{
	size_t i;

	for (i = 0; i < env->pass.nr; i++) {
		if (!env->found.checked[i])
			continue;
		printf("%s%s%s: %llu events\n", CLI_BOLD, env->pass.at[i].category->name, CLI_PLAIN,
		       (unsigned long long)env->found.basis[i].events);
		basis_text(&env->found.basis[i]);
	}
	if (env->found.findings.dropped)
		printf("%llu files, processes or others with few events were dropped to save memory\n",
		       (unsigned long long)env->found.findings.dropped);
}

/* Which categories would have to be recorded for the other rules. */
static void put_unchecked(const struct env *env)
{
	const char *between = "not checked (category missing): ";
	size_t i;

	for (i = 0; i < nr_finding_watches; i++) {
		if (!findings_pass_lacks(&env->found, &env->pass, finding_watches[i]))
			continue;
		printf("%s%s", between, finding_watches[i]->category);
		between = ", ";
	}
	if (*between == ',')
		putchar('\n');
}

static void put_text(const struct env *env)
{
	size_t i;

	waits_text(&env->found.waits);
	for (i = 0; i < env->found.findings.nr; i++) {
		finding_text(&env->found.findings.at[i]);
		putchar('\n');
	}
	if (!env->found.findings.nr && !env->found.waits.nr)
		puts("nothing found");
	put_basis(env);
	put_unchecked(env);
}

/* --- the command ---------------------------------------------------------------- */

static const char *nearest_rule(const char *word)
{
	struct iot_nearest found = IOT_NEAREST_NONE;
	size_t i, j;

	for (i = 0; i < nr_finding_watches; i++)
		for (j = 0; j < finding_watches[i]->nr_rules; j++)
			iot_nearest_see(&found, word, strlen(word), finding_watches[i]->rules[j].id);
	return found.name;
}

static void take_rules(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;
	char *words = (char *)arg, *word;

	while ((word = strsep(&words, ","))) {
		if (!finding_rule_find(word))
			cli_usage(state, "--rule: there is no rule \"%s\"; the nearest is %s (see --list)",
				  word, nearest_rule(word));
		if (env->nr_rules == RULES)
			cli_usage(state, "--rule: more than %d rules", RULES);
		env->rules[env->nr_rules++] = word;
	}
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	const struct env *env = to;

	(void)given;
	if (env->list && (env->words.nr || env->pass.record))
		cli_usage(state, "--list is about no trace");
}

static int run(int argc, char **argv)
{
	struct env env = { .pass = PASS_NONE, .format = FORMAT_TEXT, .top = 5 };
	int status;

	command_parse(&command_findings, argc, argv, &env);
	env.found.findings = (struct findings){
		.wanted = env.rules, .nr_wanted = env.nr_rules, .top = env.top, .names = &env.pass.names,
	};
	if (env.list) {
		each_rule(&env, list_rule);
		return CLI_OK;
	}
	status = pass_open(&env.pass, &env.words);
	if (!status)
		status = findings_pass_read(&env.found, &env.pass);
	if (!status && env.format == FORMAT_JSON)
		json_print(findings_pass_json(&env.found, &env.pass));
	else if (!status)
		put_text(&env);
	findings_pass_free(&env.found);
	return pass_close(&env.pass, status);
}

static const struct cli_option options[] = {
	{ "rule", 0, "ID,...", "check only these rules (default: all); may be repeated",
	  OPTION_TAKE, .take = take_rules, .words = FINDING_RULE_WORDS, .values = VALUES_LIST },
	{ "list", 0, NULL, "list the rules: their id, the category that they need, and what they find",
	  TO_FLAG(struct env, list) },
	{ "top", 0, "N", "show the first N rows of each finding (default 5; 0: show all)",
	  TO_NUMBER(struct env, top), .least = 0, .most = 1000000000 },
	{ "format", 'f', "FORMAT", "output format: text (default) or json",
	  TO_FORMAT(struct env, format), "text json" },
	{ 0 }
};

const struct command command_findings = {
	.name = "findings",
	.summary = "find known causes of slow I/O in a trace",
	.synopsis = "TRACE\n--live\n--list",
	.help =
		"Check a trace for known causes of slow or wasted I/O. A finding has a sentence with its"
		" figures, what to do, and the files, processes, disks or connections that prove it. Before"
		" these it says which process waited in calls on which file, and why.\v"
		"Each rule needs a category (--list): record with all that are of interest. Figures are"
		" of the events in the trace; where they cannot be known exactly, they are the least."
		" Missing events can hide a finding. Severity is notice, warning or critical.",
	.options = options,
	.group = &pass_options, .group_at = offsetof(struct env, pass),
	.operands = PASS_OPERANDS,
	.words = offsetof(struct env, words),
	.check = check,
	.run = run,
};
