// SPDX-License-Identifier: GPL-2.0
/* iotracer vm: the virtual machines that run here, their drives, and the files behind these. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "module/proc.h"
#include "module/target.h"
#include "vm/vm.h"
#include "vm/vm_find.h"

struct env {
	struct cli_words words;
	char **names;
	size_t nr;
	enum cli_format format;
	json_t *machines;	/* that run */
};

/* --- text, of what is escaped already ------------------------------------------ */

static const char *text_of(const json_t *object, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : otherwise;
}

static void print_line(const char *name, const char *value)
{
	if (value && *value)
		printf("    %-10s%s\n", name, value);
}

/* Appends ", word". */
static void say(char **line, const char *word)
{
	char *more = xasprintf("%s, %s", *line, word);

	free(*line);
	*line = more;
}

static void say_state(char **line, const json_t *file)
{
	const char *device = text_of(file, "device", NULL), *name = text_of(file, "device_name", NULL);
	char *more = device && name ? xasprintf("%s is %s", device, name) : NULL;

	if (more)
		say(line, more);
	free(more);
	if (json_is_true(json_object_get(file, "read_only")))
		say(line, "read-only");
	if (json_is_true(json_object_get(file, "direct")))
		say(line, "O_DIRECT");
	if (json_is_true(json_object_get(file, "traced")))
		say(line, "traced");
	if (json_is_true(json_object_get(file, "deleted")))
		say(line, "deleted");
	if (json_is_false(json_object_get(file, "open")))
		say(line, "not open");
}

static char *describe(const json_t *file)
{
	const char *problem = text_of(file, "problem", NULL), *format = text_of(file, "format", NULL);
	char *line = xasprintf("%s%s%s%s", text_of(file, "file", "?"), format ? " (" : "", format ? format : "",
			       format ? ")" : "");

	say_state(&line, file);
	if (problem)
		say(&line, problem);
	return line;
}

static void print_layer(const json_t *layer, size_t depth)
{
	char *name = xasprintf("layer %zu", depth), *line = describe(layer);
	const json_t *data_file = json_object_get(layer, "data_file");

	print_line(name, line);
	free(line);
	free(name);
	if (!data_file)
		return;
	line = describe(data_file);
	print_line("  data", line);
	free(line);
}

static void print_drive(const json_t *drive)
{
	const json_t *layer;
	size_t i;

	printf("  drive %s\n", text_of(drive, "name", "-"));
	if (json_is_true(json_object_get(drive, "unplugged")))
		print_line("state", "unplugged");
	else if (json_is_true(json_object_get(drive, "added")))
		print_line("state", "added while the machine ran");
	print_line("device", text_of(drive, "device", NULL));
	print_line("interface", text_of(drive, "interface", NULL));
	print_line("id", text_of(drive, "id", NULL));
	print_line("node", text_of(drive, "node", NULL));
	print_line("serial", text_of(drive, "serial", NULL));
	print_line("cache", text_of(drive, "cache", NULL));
	print_line("aio", text_of(drive, "aio", NULL));
	if (json_is_true(json_object_get(drive, "snapshot")))
		print_line("snapshot", "what is written goes to a temporary file");
	json_array_foreach(json_object_get(drive, "layers"), i, layer) {
		print_layer(layer, i);
	}
	if (!i)
		print_line("layers", "none: the drive is empty");
}

static void print_other(const json_t *file)
{
	const char *above = text_of(file, "above", NULL);
	char *line = describe(file), *more = above ? xasprintf("above drive %s", above) : NULL;

	if (more)
		say(&line, more);
	printf("  also open %s\n", line);
	free(more);
	free(line);
}

static void print_machine(const json_t *machine)
{
	const json_t *files = json_object_get(machine, "open_files"), *one;
	long long pid = json_integer_value(json_object_get(machine, "pid"));
	size_t i;

	printf("%s%s%s\n", CLI_BOLD, text_of(machine, "name", "-"), CLI_PLAIN);
	printf("  pid   %lld\n", pid);
	if (text_of(machine, "uuid", NULL))
		printf("  uuid  %s\n", text_of(machine, "uuid", ""));
	json_array_foreach(json_object_get(machine, "drives"), i, one) {
		print_drive(one);
	}
	json_array_foreach(files, i, one) {
		print_other(one);
	}
	if (!strcmp(text_of(machine, "asked", ""), "no answer"))
		printf("  its monitor did not answer: the drives are those of the command line\n");
	if (!json_is_array(files))
		printf("  what it has open may not be seen: be root, or its user\n");
}

/* Whether a layer, or the data file of one, is a target. */
static bool is_traced(const json_t *drive)
{
	const json_t *layer;
	size_t i;

	json_array_foreach(json_object_get(drive, "layers"), i, layer) {
		if (json_is_true(json_object_get(layer, "traced")) ||
		    json_is_true(json_object_get(json_object_get(layer, "data_file"), "traced")))
			return true;
	}
	return false;
}

static void print_row(const json_t *machine, int width)
{
	const json_t *drives = json_object_get(machine, "drives"), *drive;
	size_t i, traced = 0;

	json_array_foreach(drives, i, drive) {
		traced += is_traced(drive);
	}
	printf("%s%-*s%s  %10lld %6zu %6zu  %s\n", CLI_BOLD, width, text_of(machine, "name", "-"), CLI_PLAIN,
	       (long long)json_integer_value(json_object_get(machine, "pid")), json_array_size(drives), traced,
	       text_of(machine, "uuid", "-"));
}

static void print_list(const json_t *machines)
{
	size_t i, width = strlen("NAME");
	const json_t *machine;

	json_array_foreach(machines, i, machine) {
		if (strlen(text_of(machine, "name", "-")) > width)
			width = strlen(text_of(machine, "name", "-"));
	}
	if (json_array_size(machines))
		printf("%-*s  %10s %6s %6s  %s\n", (int)width, "NAME", "PID", "DRIVES", "TRACED", "UUID");
	json_array_foreach(machines, i, machine) {
		print_row(machine, width);
	}
}

static int show(const struct env *env)
{
	json_t *shown = json_array();
	int status = CLI_OK;
	size_t i;

	for (i = 0; i < env->nr; i++) {
		json_t *machine = vm_find(env->machines, env->names[i]);

		if (!machine)
			status = CLI_FAILED;
		else if (env->format == FORMAT_JSON)
			json_add(shown, json_incref(machine));
		else
			print_machine(machine);
	}
	if (env->format == FORMAT_JSON)
		json_print(shown);
	else
		json_decref(shown);
	return status;
}

static int list(const struct env *env)
{
	if (env->format == FORMAT_JSON)
		json_print(json_incref(env->machines));
	else
		print_list(env->machines);
	return CLI_OK;
}

/* Without the module nothing is traced; without the right to ask it, that is not known. */
static bool load_targets(struct target_list *targets)
{
	int err = target_list_load(targets);
	bool known = !err || err == -ENOENT || err == -ENOTDIR;

	if (!known)
		cli_say("which files are traced is not known: %s cannot be read: %s", proc_root(), strerror(-err));
	return known;
}

/* --- the command line ----------------------------------------------------------- */

enum { LIST, SHOW };

static const struct action actions[] = {
	[LIST] = { "list", { .excess = "it takes no name (show does)" } },
	[SHOW] = { "show", { 1, ANY_NUMBER, "say which machine, by its name or PID", NULL, VALUES_MACHINE } },
	{ 0 }
};

static void check(struct argp_state *state, void *to, const struct option_parser *given)
{
	const struct env *env = to;
	size_t i;

	(void)given;
	for (i = 1; i < env->words.nr; i++)
		if (!*env->words.at[i])
			cli_usage(state, "the name of a machine is empty");
}

static int run(int argc, char **argv)
{
	struct env env = { 0 };
	struct target_list targets;
	int status;

	command_parse(&command_vm, argc, argv, &env);
	env.names = env.words.at + 1;
	env.nr = env.words.nr - 1;
	env.machines = vm_list_ask(load_targets(&targets) ? &targets : NULL, env.names, env.nr);
	status = command_action(&command_vm, &env.words) == &actions[SHOW] ? show(&env) : list(&env);
	json_decref(env.machines);
	target_list_free(&targets);
	return status;
}

static const struct cli_option options[] = {
	{ "format", 'f', "FORMAT", "output format: text (default) or json",
	  TO_FORMAT(struct env, format), "text json" },
	{ "json", 0, NULL, "same as --format=json", TO_SET(struct env, format), .least = FORMAT_JSON },
	{ 0 }
};

const struct command command_vm = {
	.name = "vm",
	.summary = "list QEMU's virtual machines, and show their drives and files",
	.synopsis = "list\nshow NAME|PID...",
	.help =
		"List the virtual machines of QEMU that run on this host, or show the drives of some of them"
		" and the files behind the drives.\v"
		"The information comes from QEMU's command line, the headers of the images and the files that"
		" QEMU has open. show also asks QEMU for its present drives, if it answers within a second."
		" An open image that belongs to no drive was added later, for example by a snapshot."
		" See iotracer-vm(7).",
	.options = options,
	.actions = actions,
	.actions_missing = "say list or show",
	.words = offsetof(struct env, words),
	.check = check,
	.run = run,
};
