// SPDX-License-Identifier: GPL-2.0
/* iotracer doctor: what will work here, what will not, and what to do about it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "doctor/doctor.h"
#include "trace/categories.h"

struct env {
	enum cli_format format;
	const char *release;
	struct doctor doctor;
	struct ability *abilities;	/* one for each category */
};

static const char *const words[] = {
	[VERDICT_OK] = "ok",
	[VERDICT_PARTLY] = "partly",
	[VERDICT_MISSING] = "missing",
	[VERDICT_UNKNOWN] = "unknown",
};

static const char *colour_of(enum verdict verdict)
{
	switch (verdict) {
	case VERDICT_OK:
		return CLI_GREEN;
	case VERDICT_MISSING:
		return CLI_RED;
	default:
		return CLI_YELLOW;
	}
}

static void print_line(const char *name, enum verdict verdict, const char *text)
{
	char *shown = text_guard(text, strlen(text), "");

	printf("%-12s%s%-8s%s %s\n", name, colour_of(verdict), words[verdict], CLI_PLAIN, shown);
	free(shown);
}

static void print_more(const char *mark, const char *text)
{
	char *shown = text_guard(text, strlen(text), "");

	printf("%21s%s%s\n", "", mark, shown);
	free(shown);
}

static void print_ability(const struct ability *a)
{
	size_t i;

	print_line(a->name, a->verdict, a->nr ? a->missing[0] : "all operations");
	for (i = 1; i < a->nr; i++)
		print_more("", a->missing[i]);
}

static enum verdict verdict_of_all(const struct env *env)
{
	size_t count[VERDICT_UNKNOWN + 1] = { 0 }, i;

	for (i = 0; i < nr_categories; i++)
		count[env->abilities[i].verdict]++;
	if (count[VERDICT_OK] == nr_categories)
		return VERDICT_OK;
	if (count[VERDICT_MISSING] == nr_categories)
		return VERDICT_MISSING;
	return count[VERDICT_OK] + count[VERDICT_UNKNOWN] == nr_categories ? VERDICT_UNKNOWN :
									     VERDICT_PARTLY;
}

static void print_text(const struct env *env)
{
	static const char *const verdicts[] = {
		[VERDICT_OK] = "all categories will work here",
		[VERDICT_PARTLY] = "not all will work here: see the categories",
		[VERDICT_MISSING] = "iotracer will not work here as it is",
		[VERDICT_UNKNOWN] = "whether all will work here is not known: see the categories",
	};
	enum verdict verdict = verdict_of_all(env);
	size_t i;

	for (i = 0; i < NR_CHECKS; i++) {
		const struct check *c = &env->doctor.checks[i];

		print_line(c->name, c->verdict, c->found);
		if (c->remedy)
			print_more("-> ", c->remedy);
	}
	putchar('\n');
	for (i = 0; i < nr_categories; i++)
		print_ability(&env->abilities[i]);
	putchar('\n');
	print_line("verdict", verdict, verdicts[verdict]);
}

static json_t *json_check(const struct check *c)
{
	json_t *object = json_object();

	json_put(object, "name", json_string(c->name));
	json_put(object, "state", json_string(words[c->verdict]));
	json_put(object, "blocks", json_boolean(c->blocks));
	json_put(object, "found", json_shown(c->found));
	json_put(object, "remedy", c->remedy ? json_shown(c->remedy) : json_null());
	return object;
}

static json_t *json_ability(const struct env *env, size_t i)
{
	const struct ability *a = &env->abilities[i];
	json_t *object = json_object(), *missing = json_array();
	size_t j;

	for (j = 0; j < a->nr; j++)
		json_add(missing, json_shown(a->missing[j]));
	json_put(object, "name", json_string(a->name));
	json_put(object, "state", json_string(words[a->verdict]));
	json_put(object, "missing", missing);
	json_put(object, "needs", doctor_needs(&env->doctor, categories[i]));
	return object;
}

static void print_json(const struct env *env)
{
	json_t *document = json_object(), *checks = json_array(), *abilities = json_array();
	size_t i;

	for (i = 0; i < NR_CHECKS; i++)
		json_add(checks, json_check(&env->doctor.checks[i]));
	for (i = 0; i < nr_categories; i++)
		json_add(abilities, json_ability(env, i));
	json_put(document, "kernel", json_shown(env->doctor.host.release));
	json_put(document, "running", json_boolean(env->doctor.host.running));
	json_put(document, "state", json_string(words[verdict_of_all(env)]));
	json_put(document, "checks", checks);
	json_put(document, "categories", abilities);
	json_print(document);
}

static int exit_code(enum verdict verdict)
{
	if (verdict == VERDICT_OK)
		return CLI_OK;
	return verdict == VERDICT_MISSING ? CLI_NO_MODULE : CLI_FAILED;
}

static void judge_all(struct env *env)
{
	size_t i;

	env->abilities = xreallocarray(NULL, nr_categories, sizeof(*env->abilities));
	for (i = 0; i < nr_categories; i++)
		doctor_judge(&env->doctor, categories[i], &env->abilities[i]);
}

static void free_all(struct env *env)
{
	size_t i;

	for (i = 0; i < nr_categories; i++)
		doctor_ability_free(&env->abilities[i]);
	free(env->abilities);
	doctor_close(&env->doctor);
}

static int examine(struct env *env)
{
	int status;

	doctor_look(&env->doctor);
	judge_all(env);
	if (env->format == FORMAT_JSON)
		print_json(env);
	else
		print_text(env);
	status = exit_code(verdict_of_all(env));
	free_all(env);
	return status;
}

static void take_release(struct argp_state *state, void *to, const char *arg)
{
	struct env *env = to;

	if (!*arg || *arg == '.' || strchr(arg, '/'))
		cli_usage(state, "%s: say a release, as uname -r does", arg);
	env->release = arg;
}

/* Whether any file of this kernel is installed. */
static bool is_installed(const struct host *host)
{
	char *modules = host_module_path(host, ""), *config = xasprintf("/boot/config-%s",
									host->release);
	bool installed = host->running || host_has(modules) || host_has(config);

	free(modules);
	free(config);
	return installed;
}

static int run(int argc, char **argv)
{
	struct env env = { .format = FORMAT_TEXT };

	command_parse(&command_doctor, argc, argv, &env);
	host_open(&env.doctor.host, env.release);
	if (is_installed(&env.doctor.host))
		return examine(&env);
	cli_say_of(env.release, "no such kernel is installed: it is neither in /boot nor in"
		   " /lib/modules");
	host_close(&env.doctor.host);
	return CLI_FAILED;
}

static const struct cli_option options[] = {
	{ "format", 'f', "FORMAT", "output format: text (default) or json",
	  TO_FORMAT(struct env, format), "text json" },
	{ "kernel", 'k', "RELEASE", "examine the installed kernel RELEASE instead of the running one",
	  OPTION_TAKE, .values = VALUES_KERNEL, .take = take_release },
	{ 0 }
};

const struct command command_doctor = {
	.name = "doctor",
	.summary = "report what will work with this kernel, and how to fix the rest",
	.help =
		"Check how much of iotracer will work with a kernel. For each check, report the result"
		" and, if something is wrong, what to do about it. For each category, report which"
		" operations are not recorded, and why. Needs neither the module nor root; without root,"
		" some results are \"unknown\".\v"
		"Exit status: 0 if all categories will work once the module is loaded; 1 if some do not"
		" work, or only in part, or the result is unknown; 3 if none will, because the module"
		" cannot be built or loaded as things are. The environment variable IOTRACER_ROOT names"
		" a directory to use instead of /, with /boot, /lib/modules, /proc and /sys in it.",
	.options = options,
	.operands = { .excess = "doctor takes no argument" },
	.run = run,
};
