// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "vm/qemu_args.h"

#define JSON_DEPTH 64	/* of nested objects that are flattened */

/* Whether a value follows the option. These have none, all others have one. */
static bool takes_value(const char *name)
{
	static const char *const flags[] = {
		"h", "help", "version", "S", "snapshot", "daemonize", "nographic", "enable-kvm", "no-reboot",
		"no-shutdown", "nodefaults", "no-user-config", "nouserconfig", "preconfig", "only-migratable",
		"no-acpi", "no-hpet", "no-fd-bootcheck", "full-screen", "usb", "alt-grab", "ctrl-grab",
		"no-quit", "portrait", "singlestep", "one-insn-per-tb", "semihosting", "win2k-hack",
		"xen-attach", "xen-domid-restrict", "enable-fips", "enable-sync-profile", "old-param",
		"no-frame", "no-kvm", "no-kvm-irqchip", "no-kvm-pit-reinjection", "mem-prealloc",
	};
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (!strcmp(name, flags[i]))
			return false;
	return true;
}

static void add_option(struct qemu_args *args, const char *name, const char *value)
{
	args->at = xreallocarray(args->at, args->nr + 1, sizeof(*args->at));
	args->at[args->nr++] = (struct qemu_option){ name, value };
}

void qemu_args_parse(struct qemu_args *args, const char *words, size_t length)
{
	const char *end = words + length, *word = words;

	*args = (struct qemu_args){ 0 };
	/* the first word is the program */
	for (word += strlen(word) + 1; word < end; word += strlen(word) + 1) {
		const char *name = word + (*word == '-') + (word[0] == '-' && word[1] == '-');
		const char *value = word + strlen(word) + 1;

		if (*word != '-') {
			add_option(args, "hda", word);
		} else if (!takes_value(name) || value >= end) {
			add_option(args, name, "");
		} else {
			add_option(args, name, value);
			word = value;
		}
	}
}

void qemu_args_free(struct qemu_args *args)
{
	free(args->at);
	*args = (struct qemu_args){ 0 };
}

const char *qemu_args_last(const struct qemu_args *args, const char *name)
{
	size_t i;

	for (i = args->nr; i; i--)
		if (!strcmp(args->at[i - 1].name, name))
			return args->at[i - 1].value;
	return NULL;
}

/* --- values ----------------------------------------------------------------- */

static void add_pair(struct qemu_dict *dict, char *key, char *value)
{
	dict->at = xreallocarray(dict->at, dict->nr + 1, sizeof(*dict->at));
	dict->at[dict->nr++] = (struct qemu_pair){ key, value };
}

static char *scalar(const json_t *value)
{
	if (json_is_string(value))
		return xstrdup(json_string_value(value));
	if (json_is_integer(value))
		return xasprintf("%lld", (long long)json_integer_value(value));
	if (json_is_boolean(value))
		return xstrdup(json_is_true(value) ? "on" : "off");
	return NULL;
}

/* Adds the keys of nested objects, joined by dots. Values in arrays are not needed. */
static void flatten(struct qemu_dict *dict, const char *prefix, json_t *object, unsigned int depth)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value) {
		char *name = xasprintf("%s%s", prefix, key);

		if (json_is_object(value) && depth < JSON_DEPTH) {
			char *below = xasprintf("%s.", name);

			flatten(dict, below, value, depth + 1);
			free(below);
			free(name);
		} else {
			add_pair(dict, name, scalar(value));
		}
	}
}

/* Copies up to a comma; a doubled comma stands for one. Returns the rest, or NULL at the end. */
static const char *next_word(const char *text, char *word)
{
	for (; *text; text++) {
		if (*text == ',' && text[1] != ',')
			break;
		if (*text == ',')
			text++;
		*word++ = *text;
	}
	*word = '\0';
	return *text ? text + 1 : NULL;
}

static void parse_pairs(struct qemu_dict *dict, const char *text, const char *implied)
{
	char *word = xreallocarray(NULL, strlen(text) + 1, 1);
	bool first = true;

	while (text) {
		/* a key contains no comma: text up to an equals sign is a key */
		size_t key = strcspn(text, "=,");
		bool has_key = text[key] == '=';

		text = next_word(text, word);
		if (has_key)
			add_pair(dict, xasprintf("%.*s", (int)key, word), xstrdup(word + key + 1));
		else if (first && implied && *word)
			add_pair(dict, xstrdup(implied), xstrdup(word));
		else if (!strncmp(word, "no", 2) && word[2])
			add_pair(dict, xstrdup(word + 2), xstrdup("off"));
		else if (*word)
			add_pair(dict, xstrdup(word), xstrdup("on"));
		first = false;
	}
	free(word);
}

void qemu_dict_parse(struct qemu_dict *dict, const char *text, const char *implied)
{
	json_t *object;

	*dict = (struct qemu_dict){ 0 };
	if (*text != '{') {
		parse_pairs(dict, text, implied);
		return;
	}
	object = json_loads(text, 0, NULL);
	flatten(dict, "", object, 0);
	json_decref(object);
}

void qemu_dict_free(struct qemu_dict *dict)
{
	size_t i;

	for (i = 0; i < dict->nr; i++) {
		free(dict->at[i].key);
		free(dict->at[i].value);
	}
	free(dict->at);
	*dict = (struct qemu_dict){ 0 };
}

/* The last one takes precedence, as in QEMU. */
static const struct qemu_pair *find(const struct qemu_dict *dict, const char *prefix, const char *key)
{
	size_t i, length = strlen(prefix);

	for (i = dict->nr; i; i--)
		if (!strncmp(dict->at[i - 1].key, prefix, length) && !strcmp(dict->at[i - 1].key + length, key))
			return &dict->at[i - 1];
	return NULL;
}

const char *qemu_dict_get(const struct qemu_dict *dict, const char *prefix, const char *key)
{
	const struct qemu_pair *pair = find(dict, prefix, key);

	return pair ? pair->value : NULL;
}

bool qemu_dict_has(const struct qemu_dict *dict, const char *prefix, const char *key)
{
	return find(dict, prefix, key);
}

bool qemu_dict_has_below(const struct qemu_dict *dict, const char *prefix, const char *key)
{
	size_t i, before = strlen(prefix), length = strlen(key);

	for (i = 0; i < dict->nr; i++) {
		const char *at = dict->at[i].key;

		if (!strncmp(at, prefix, before) && !strncmp(at + before, key, length) && at[before + length] == '.')
			return true;
	}
	return false;
}

bool qemu_is_on(const char *value, bool otherwise)
{
	if (!value)
		return otherwise;
	return !strcmp(value, "on") || !strcmp(value, "yes") || !strcmp(value, "true") || !strcmp(value, "y");
}

unsigned long long qemu_bytes(const char *text)
{
	static const char units[] = "kmgt";
	unsigned long long n;
	const char *unit;
	char *end;

	if (!text)
		return 0;
	n = strtoull(text, &end, 0);
	unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	return unit ? n << 10 * (unit - units + 1) : n;
}
