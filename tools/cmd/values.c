// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <dirent.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/command.h"
#include "cmd/values.h"
#include "core/names.h"
#include "machine/cgroup.h"
#include "machine/container.h"
#include "machine/netns.h"
#include "machine/processes.h"
#include "module/target.h"
#include "record/store.h"
#include "trace/categories.h"
#include "trace/category.h"
#include "trace/select.h"
#include "vm/vm.h"

void values_skip(struct values *v, size_t bytes)
{
	v->skip += bytes;
}

/* The part of the word that is to be completed. */
static const char *open_part(const struct values *v)
{
	return v->word + v->skip;
}

/* What would end the line, or hide behind it, is offered to nobody. */
static bool is_plain(const char *value)
{
	for (; *value; value++)
		if ((unsigned char)*value < ' ' || *value == 0x7f)
			return false;
	return true;
}

/* Whether the value is in the list before the last comma. */
static bool is_in_list(const struct values *v, const char *value)
{
	const char *at = v->list, *end = open_part(v);
	size_t length = strlen(value);

	for (; at < end; at += strcspn(at, ",") + 1)
		if (strcspn(at, ",") == length && !memcmp(at, value, length))
			return true;
	return false;
}

void values_offer(const struct values *v, const char *value, const char *meaning)
{
	const char *open = open_part(v);

	if (strncmp(value, open, strlen(open)) || !is_plain(value))
		return;
	if (v->list && is_in_list(v, value))
		return;
	printf("%.*s%s%s%s\n", (int)v->skip, v->word, value, meaning ? "\t" : "",
	       meaning ? meaning : "");
}

/* The names in a directory; none if it cannot be read. */
static void offer_entries(const struct values *v, const char *directory, const char *meaning)
{
	DIR *d = opendir(directory);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (*e->d_name != '.')
			values_offer(v, e->d_name, meaning);
	if (d)
		closedir(d);
}

static void offer_words(const struct values *v, const char *words)
{
	const char *at;
	size_t n;

	while (words && (at = option_next_word(&words, &n))) {
		char *word = xasprintf("%.*s", (int)n, at);

		values_offer(v, word, NULL);
		free(word);
	}
}

static void offer_files(const struct values *v, const char *which)
{
	printf("\t%s\t%.*s\n", which, (int)v->skip, v->word);
}

/* --- of the tool ---------------------------------------------------------------- */

static void offer_subcommands(const struct values *v)
{
	size_t i;

	for (i = 0; i < nr_commands; i++)
		if (commands[i]->summary)
			values_offer(v, commands[i]->name, commands[i]->summary);
}

static void offer_categories(const struct values *v)
{
	size_t i;

	for (i = 0; i < nr_categories; i++)
		values_offer(v, categories[i]->name, category_event(categories[i])->text);
}

static void offer_traces(const struct values *v)
{
	char *root = store_root();
	struct store_names names = { 0 };
	size_t i;

	if (root && !store_list(&names, root, open_part(v)))
		for (i = 0; i < names.nr; i++)
			values_offer(v, names.at[i], "a trace");
	store_names_free(&names);
	free(root);
}

static void offer_targets(const struct values *v)
{
	struct target_list list;
	size_t i;

	if (!target_list_load(&list))
		for (i = 0; i < list.nr; i++) {
			const struct target *t = &list.targets[i];
			char *shown = target_show(t->tasks ? t->tasks : t->nr_paths ? t->paths[0] : "");

			values_offer(v, t->name, shown);
			if (t->tasks)
				values_offer(v, t->tasks, t->name);
			free(shown);
		}
	target_list_free(&list);
}

/* --- of the machine ------------------------------------------------------------- */

static void offer_processes(const struct values *v, bool by_name)
{
	struct process_list list = { 0 };
	char text[1024], file[64];
	size_t i;

	if (!process_list(&list))
		return;
	for (i = 0; i < list.nr; i++) {
		struct process_stat st;
		char number[32];

		snprintf(file, sizeof(file), "%d/stat", list.at[i]);
		if (process_read(list.dir, file, text, sizeof(text)) <= 0 || !process_parse(&st, text))
			continue;
		snprintf(number, sizeof(number), "%d", st.pid);
		values_offer(v, by_name ? st.comm : number, by_name ? number : st.comm);
	}
	process_list_free(&list);
}

static void offer_groups(const struct values *v, bool units)
{
	struct cgroups groups = { 0 };
	size_t i;

	if (cgroups_load(&groups))
		for (i = 0; i < groups.nr; i++) {
			const char *path = groups.paths[i], *name = strrchr(path, '/');
			const char *end = name ? strrchr(name, '.') : NULL;

			if (!units)
				values_offer(v, path, NULL);
			else if (end && (!strcmp(end, ".service") || !strcmp(end, ".scope")))
				values_offer(v, name + 1, path);
		}
	cgroups_free(&groups);
}

static void offer_container(void *v, const char *name)
{
	values_offer(v, name, "a container");
}

static void offer_containers(struct values *v)
{
	struct cgroups groups = { 0 };

	if (cgroups_load(&groups))
		container_each(&groups, offer_container, v);
	cgroups_free(&groups);
}

static void offer_machines(const struct values *v)
{
	json_t *machines = vm_list(NULL), *machine;
	size_t i;

	json_array_foreach(machines, i, machine) {
		const char *name = json_string_value(json_object_get(machine, "name"));

		if (name)
			values_offer(v, name, "a virtual machine");
	}
	json_decref(machines);
}

static void offer_users(const struct values *v)
{
	struct passwd *user;

	setpwent();
	while ((user = getpwent()))
		values_offer(v, user->pw_name, user->pw_gecos);
	endpwent();
}

/* --- conditions ----------------------------------------------------------------- */

static bool has_operation(const struct category *category, const char *name)
{
	const char *known;
	unsigned int op;

	for (op = 0; (known = iot_names_op_name(category->event_id, op)); op++)
		if (!strcmp(known, name))
			return true;
	return false;
}

/* Of @category, or of all if it is NULL: each name once. */
static void offer_operations(const struct values *v, const struct category *category)
{
	const char *name;
	unsigned int op;
	size_t i, j;

	for (i = 0; i < nr_categories; i++) {
		if (category && category != categories[i])
			continue;
		for (op = 0; (name = iot_names_op_name(categories[i]->event_id, op)); op++) {
			for (j = 0; j < i && !category && !has_operation(categories[j], name); j++)
				;
			if (category || j == i)
				values_offer(v, name, NULL);
		}
	}
}

static void offer_kinds(const struct values *v)
{
	const char *name;
	unsigned int i;

	for (i = 0; (name = iot_names_kind(i)); i++)
		values_offer(v, name, NULL);
}

/* The names of a group of flags.def without a prefix. */
static void offer_values(const struct values *v, const char *group, const char *prefix)
{
	const struct iot_group values = iot_names_group(group);
	size_t length = strlen(prefix), i;

	for (i = 0; i < values.nr; i++) {
		const char *name = values.flags[i].name;
		char *word = xstrdup(strncmp(name, prefix, length) ? name : name + length), *c;

		for (c = word; *c; c++)
			*c = tolower((unsigned char)*c);
		values_offer(v, word, NULL);
		free(word);
	}
}

/* What the key, of @length bytes, can have behind its last comma. Export knows no namespace by name. */
static void offer_condition(struct values *v, const char *key, size_t length, bool select)
{
	static const struct { const char *key; unsigned int kinds; const char *words; } keys[] = {
		{ "op", VALUES_OPERATION, NULL }, { "kind", VALUES_KIND, NULL },
		{ "pid", VALUES_PID, NULL }, { "tid", VALUES_PID, NULL },
		{ "comm", VALUES_COMM, NULL }, { "uid", VALUES_USER, NULL },
		{ "dev", VALUES_DEVICE, NULL }, { "path", VALUES_FILE, NULL },
		{ "family", VALUES_FAMILY, NULL }, { "proto", VALUES_PROTO, NULL },
		{ "netns", VALUES_NETNS, NULL },
		{ "rejected", VALUES_NONE, "1" },
	};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strlen(keys[i].key) == length && !memcmp(keys[i].key, key, length) &&
		    !(select && keys[i].kinds == VALUES_NETNS))
			values_offer_all(v, keys[i].kinds, keys[i].words);
}

/* [CATEGORY:]KEY=VALUE,... of the module, or KEY=VALUE,... of export. */
static void offer_filter(struct values *v, bool select)
{
	const char *open = open_part(v), *colon = strchr(open, ':'), *equals = strchr(open, '=');
	const char *key;
	unsigned int i;

	if (!select && colon && (!equals || colon < equals)) {
		v->category = category_find(open, colon - open);
		values_skip(v, colon + 1 - open);
		open = colon + 1;
	}
	if (equals) {
		const char *comma = strrchr(equals, ',');

		v->list = equals + 1;
		values_skip(v, (comma ? comma : equals) + 1 - open);
		offer_condition(v, open, equals - open, select);
		return;
	}
	for (i = 0; (key = select ? select_key(i) : iot_names_key(i)); i++) {
		char *word = xasprintf("%s=", key);

		if (!v->category || !iot_names_without(v->category->event_id, key))
			values_offer(v, word, NULL);
		free(word);
	}
}

/* --- all ------------------------------------------------------------------------ */

/* Of a list only what follows the last comma is open. */
static void skip_list(struct values *v)
{
	const char *open = open_part(v), *comma = strrchr(open, ',');

	v->list = open;
	if (comma)
		values_skip(v, comma + 1 - open);
}

void values_offer_all(struct values *v, unsigned int kinds, const char *words)
{
	if (kinds & VALUES_LIST)
		skip_list(v);
	offer_words(v, words);
	if (kinds & VALUES_SUBCOMMAND)
		offer_subcommands(v);
	if (kinds & VALUES_CATEGORY)
		offer_categories(v);
	if (kinds & VALUES_TARGET)
		offer_targets(v);
	if (kinds & VALUES_TRACE)
		offer_traces(v);
	if (kinds & VALUES_MACHINE)
		offer_machines(v);
	if (kinds & VALUES_KERNEL)
		offer_entries(v, "/lib/modules", NULL);
	if (kinds & (VALUES_PID | VALUES_COMM))
		offer_processes(v, kinds & VALUES_COMM);
	if (kinds & (VALUES_CGROUP | VALUES_UNIT))
		offer_groups(v, kinds & VALUES_UNIT);
	if (kinds & VALUES_CONTAINER)
		offer_containers(v);
	if (kinds & VALUES_OPERATION)
		offer_operations(v, v->category);
	if (kinds & VALUES_KIND)
		offer_kinds(v);
	if (kinds & VALUES_USER)
		offer_users(v);
	if (kinds & VALUES_DEVICE)
		offer_entries(v, "/sys/class/block", NULL);
	if (kinds & VALUES_NETNS)
		offer_entries(v, NETNS_DIRECTORY, "a network namespace");
	if (kinds & VALUES_FAMILY)
		offer_values(v, "sockfamily", "AF_");
	if (kinds & VALUES_PROTO)
		offer_values(v, "ipproto", "");
	if (kinds & (VALUES_FILTER | VALUES_SELECT))
		offer_filter(v, kinds & VALUES_SELECT);
	if (kinds & VALUES_DIRECTORY && !(kinds & VALUES_FILE))
		offer_files(v, "directories");
	if (kinds & VALUES_FILE)
		offer_files(v, "files");
}
