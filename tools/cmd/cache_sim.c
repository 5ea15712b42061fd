// SPDX-License-Identifier: GPL-2.0
/* iotracer cache-sim: the hits that caches of several sizes and policies would have had. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "cmd/cache_sim_pass.h"
#include "cmd/command.h"
#include "cmd/pass.h"
#include "cmd/picture.h"
#include "trace/cache_sim_report.h"
#include "trace/cache_sim_svg.h"
#include "trace/categories.h"
#include "trace/page_cache.h"

#define SIZES_MOST	4096
#define SAMPLE_LEAST	1e-6

struct env {
	struct cli_words words;
	struct pass pass;
	enum cli_format format;
	__u64 sizes[SIZES_MOST];
	size_t nr_sizes;
	bool policies[CACHE_POLICIES];
	bool policies_given;
	double sample;
	double wanted;		/* percent; 0: none */
	__u64 memory;
	__u64 top;
	const char *output;	/* file of a picture; NULL: none */
	struct picture picture;
	json_t *document;
	json_t *simulations;	/* of the document */
	size_t printed;
};

/* --- the simulation ------------------------------------------------------------- */

static void begin_part(struct env *env)
{
	if (env->format == FORMAT_CSV && !env->printed)
		cache_sim_csv_header();
	if (env->format == FORMAT_TEXT && env->printed)
		putchar('\n');
	env->printed++;
}

static void print_sim(struct env *env, const struct cache_sim *s, size_t i, const struct basis *basis)
{
	const char *category = env->pass.at[i].category->name;

	if (env->output) {
		cache_sim_svg(s, category, basis, &env->picture.svg);
		return;
	}
	begin_part(env);
	switch (env->format) {
	case FORMAT_JSON:
		json_add(env->simulations, cache_sim_json(s, category, basis));
		break;
	case FORMAT_CSV:
		cache_sim_csv(s, category, basis);
		break;
	default:
		cache_sim_text(s, category, basis);
	}
}

static int simulate(struct env *env, size_t i)
{
	struct cache_sim s = {
		.accesses = { .threshold = env->sample * PAGE_ACCESSES_ALL, .memory = env->memory },
		.wanted = env->wanted,
	};
	struct basis basis;
	int status = cache_sim_pass_read(&env->pass, i, false, &s, &basis);
	size_t n;

	if (!status) {
		memcpy(s.policies, env->policies, sizeof(s.policies));
		for (n = 0; n < env->nr_sizes; n++)
			cache_sim_add_size(&s, env->sizes[n]);
		cache_sim_run(&s);
		print_sim(env, &s, i, &basis);
	}
	cache_sim_free(&s);
	return status;
}

/* --- the page cache ------------------------------------------------------------- */

static void print_cache(struct env *env, const struct page_cache *c, const struct basis *basis)
{
	begin_part(env);
	switch (env->format) {
	case FORMAT_JSON:
		json_put(env->document, "page_cache", page_cache_json(c, basis));
		break;
	case FORMAT_CSV:
		page_cache_csv(c, basis);
		break;
	default:
		page_cache_text(c, basis, env->top);
	}
}

static int look_at_cache(struct env *env, size_t i)
{
	struct page_cache c = { .memory = env->memory };
	struct basis basis;
	int status = cache_sim_pass_look(&env->pass, i, false, &c, &basis);

	/* Beside a simulation, nothing says nothing: the filter was for its category. */
	if (!status && (basis.records || !env->printed))
		print_cache(env, &c, &basis);
	page_cache_free(&c);
	return status;
}

/* --- the command ---------------------------------------------------------------- */

static int do_all(struct env *env)
{
	size_t found[CACHE_SIM_CATEGORIES], nr = cache_sim_pass_categories(&env->pass, found), i;
	size_t cache = pass_find(&env->pass, &category_cache);
	int status = CLI_OK;

	/* There is no curve of what the kernel did. */
	if (env->output && !nr) {
		cli_say_of(env->pass.trace, "has no category fs or block: a curve is of their accesses");
		return CLI_FAILED;
	}
	if (!nr && cache == env->pass.nr) {
		cli_say_of(env->pass.trace, "has no category fs, block or cache: these have accesses to pages");
		return CLI_FAILED;
	}
	for (i = 0; !status && i < nr; i++)
		status = simulate(env, found[i]);
	if (!status && cache != env->pass.nr && !env->output)
		status = look_at_cache(env, cache);
	return status;
}

static void take_sizes(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;
	char *words = (char *)arg, *word;

	while ((word = strsep(&words, ","))) {
		__u64 bytes = option_size(state, "size", word);

		if (bytes < PAGE_BYTES)
			cli_usage(state, "--size=%s: a cache has a page of 4K at least", word);
		if (env->nr_sizes == SIZES_MOST)
			cli_usage(state, "--size: there may be %u sizes", SIZES_MOST);
		env->sizes[env->nr_sizes++] = bytes;
	}
}

static void take_policies(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;
	char *words = (char *)arg, *word;
	int policy;

	env->policies_given = true;
	while ((word = strsep(&words, ","))) {
		policy = option_word(CACHE_POLICY_WORDS, word, strlen(word));
		if (policy < 0)
			cli_usage(state, "--policy=%s: there are lru, fifo, arc and min", word);
		env->policies[policy] = true;
	}
}

/* A number above 0, and up to @most, with what may follow it. */
static double take_number(struct argp_state *state, const char *arg, const char *behind, double least,
			  double most, const char *wanted)
{
	char *end;
	double n = strtod(arg, &end);

	if (end != arg && !strcmp(end, behind))
		end += strlen(behind);
	if (end == arg || *end || !(n >= least && n <= most))
		cli_usage(state, "%s, not %s", wanted, arg);
	return n;
}

static void take_sample(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;

	env->sample = take_number(state, arg, "", SAMPLE_LEAST, 1,
				  "--sample: say a share of the pages, from 0.000001 to 1");
}

static void take_wanted(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;

	env->wanted = take_number(state, arg, "%", 1e-6, 100,
				  "--want: say a hit ratio in percent, as 90%");
}

static int run(int argc, char **argv)
{
	struct env env = {
		.pass = PASS_NONE, .format = FORMAT_TEXT, .sample = 1, .memory = PAGE_ACCESSES_MEMORY, .top = 10,
	};
	unsigned int i;
	int status;

	command_parse(&command_cache_sim, argc, argv, &env);
	for (i = 0; !env.policies_given && i < CACHE_POLICIES; i++)
		env.policies[i] = true;
	env.document = json_object();
	env.simulations = json_array();
	status = picture_open(&env.picture, env.output);
	if (!status)
		status = pass_open(&env.pass, &env.words);
	if (!status)
		status = do_all(&env);
	status = picture_finish(&env.picture, status, "miss ratios of caches", env.pass.trace);
	if (env.format == FORMAT_JSON && env.printed) {
		json_put(env.document, "trace", json_shown(env.pass.trace));
		json_put(env.document, "simulations", json_incref(env.simulations));
		json_print(json_incref(env.document));
	}
	json_decref(env.simulations);
	json_decref(env.document);
	return pass_close(&env.pass, status);
}

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	picture_check(state, ((struct env *)to)->output, given);
}

static const struct cli_option options[] = {
	{ "size", 's', "SIZE,...",
	  "simulate caches of these sizes, in MiB, or with K, M, G or T after it (default: powers of two, up to the working set); may be repeated",
	  OPTION_TAKE, .take = take_sizes },
	{ "policy", 'p', "POLICY,...", "simulate these policies: lru, fifo, arc, min (default: all); may be repeated",
	  OPTION_TAKE, .take = take_policies, .words = CACHE_POLICY_WORDS, .values = VALUES_LIST },
	{ "want", 0, "PERCENT", "find the smallest cache with LRU that has this hit ratio of all accesses, as 90%",
	  OPTION_TAKE, .take = take_wanted },
	{ "sample", 0, "RATE", "simulate this share of the pages, as 0.01, and estimate the hit ratios (default 1: all pages)",
	  OPTION_TAKE, .take = take_sample },
	{ "memory", 0, "SIZE",
	  "use this much memory for pages and accesses; if it is not enough, pages are sampled (default 256 MiB)",
	  TO_SIZE(struct env, memory) },
	{ "top", 0, "N",
	  "of the commands whose pages were reclaimed show the first N rows, and the others as one (default 10; 0: show all)",
	  TO_NUMBER(struct env, top), .least = 0, .most = 1000000000 },
	PICTURE_OPTION(struct env, output),
	{ "format", 'f', "FORMAT", "output format: text (default), csv or json",
	  TO_FORMAT(struct env, format), "text csv json" },
	{ 0 }
};

const struct command command_cache_sim = {
	.name = "cache-sim",
	.summary = "show which hit ratio a cache would have had",
	.synopsis = "TRACE\n--live",
	.help =
		"Simulate caches of several sizes and policies for the reads and writes of a trace: LRU,"
		" FIFO, ARC, and MIN, which knows the future and has the most hits possible.\v"
		"A cache has pages of 4 KiB. A read or a write accesses each page of its range, and brings"
		" it into the cache. Accesses are those of category fs, to pages of files, or, in a trace"
		" without it, of category block, to pages of disks. If the trace has category cache, what"
		" the page cache of the kernel did is shown, too.",
	.options = options,
	.group = &pass_options, .group_at = offsetof(struct env, pass),
	.operands = PASS_OPERANDS,
	.words = offsetof(struct env, words),
	.check = check,
	.run = run,
};
