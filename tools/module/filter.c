// SPDX-License-Identifier: GPL-2.0
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "core/names.h"
#include "core/nearest.h"
#include "machine/devices.h"
#include "machine/netns.h"
#include "module/filter.h"
#include "trace/categories.h"

/* A condition and its parts. */
struct condition {
	const char *given;	/* the option as it was given, for messages */
	const char *category;	/* @category_length bytes; NULL: none was named */
	size_t category_length;
	const char *key;	/* "key=value" */
	size_t key_length;
	const char *value;	/* NULL: there is no "=" */
};

static struct condition split(const char *word)
{
	struct condition c = { .key = word };
	const char *equals = strchr(word, '=');
	const char *colon = memchr(word, ':', equals ? (size_t)(equals - word) : strlen(word));

	if (colon) {
		c.category = word;
		c.category_length = colon - word;
		c.key = colon + 1;
	}
	c.key_length = equals ? (size_t)(equals - c.key) : strlen(c.key);
	c.value = equals ? equals + 1 : NULL;
	return c;
}

static bool is_of(const struct condition *c, const struct category *category)
{
	return !c->category || category_find(c->category, c->category_length) == category;
}

static bool is_key(const struct condition *c, const char *name)
{
	return strlen(name) == c->key_length && !memcmp(name, c->key, c->key_length);
}

static bool has_operation(const struct category *category, const char *name, size_t length)
{
	const struct iot_op *op;
	unsigned int i;

	for (i = 0; (op = iot_names_op(category->event_id, i)); i++)
		if (strlen(op->name) == length && !strncasecmp(op->name, name, length))
			return true;
	return false;
}

/* The key of a condition, or ""; check_key() makes sure that there is one. */
static const char *key_of(const struct condition *c)
{
	const char *key;
	unsigned int i;

	for (i = 0; (key = iot_names_key(i)); i++)
		if (is_key(c, key))
			return key;
	return "";
}

/* Why a key does not apply to a category's events; NULL if it does. */
static const char *why_without(const struct condition *c, const struct category *category)
{
	return iot_names_without(category->event_id, key_of(c));
}

/* The operations of a list that a category has, or NULL for none; the caller frees it. */
static char *known_operations(const struct condition *c, const struct category *category)
{
	const char *name = c->value;
	char *list = NULL, *one;

	for (;;) {
		size_t length = strcspn(name, ",");

		if (has_operation(category, name, length)) {
			one = xasprintf("%.*s", (int)length, name);
			list = text_append(list, ",", one);
			free(one);
		}
		if (!name[length])
			return list;
		name += length + 1;
	}
}

/* Returns the part of a condition that applies to a category, or NULL; the caller frees it. */
static char *apply(const struct condition *c, const struct category *category)
{
	char *list, *text;

	if (!is_of(c, category) || why_without(c, category))
		return NULL;
	if (!is_key(c, "op"))
		return xstrdup(c->key);
	list = known_operations(c, category);
	text = list ? xasprintf("op=%s", list) : NULL;
	free(list);
	return text;
}

static bool is_number(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

/* The number of a user, or NULL. */
static char *user_number(const char *name)
{
	const struct passwd *user;

	if (is_number(name))
		return xstrdup(name);
	user = getpwnam(name);
	return user ? xasprintf("%u", user->pw_uid) : NULL;
}

static char *device_number(const char *name)
{
	unsigned int major, minor;

	return devices_number(name, &major, &minor) ? xasprintf("%u:%u", major, minor) : NULL;
}

/* The working directory, with blanks and the like escaped, and commas, which separate values. */
static char *working_directory(void)
{
	char *raw = getcwd(NULL, 0), *escaped = raw ? text_escape(raw) : NULL;
	char *rest = escaped, *all = NULL, *part;

	while (rest && (part = strsep(&rest, ",")))
		all = all ? text_append(all, "\\054", part) : xstrdup(part);
	free(escaped);
	free(raw);
	return all;
}

/* A path from the root, as the module needs it; NULL if the working directory was deleted. */
static char *path_from_root(const char *path)
{
	char *directory, *whole;

	if (*path == '/' || !*path)
		return xstrdup(path);
	directory = working_directory();
	whole = directory ? xasprintf("%s/%s", directory, path) : NULL;
	free(directory);
	return whole;
}

/* The number of a network namespace by its name or by a path, or NULL. */
static char *netns_number(const char *name)
{
	__u64 number;

	if (is_number(name))
		return xstrdup(name);
	return netns_find(name, &number) ? NULL : xasprintf("%llu", number);
}

/* What --filter and filter take in another form than the module does. */
static const struct {
	const char *key;
	char *(*number)(const char *name);
	const char *why;
} named[] = {
	{ "uid", user_number, "there is no such user here; say a name or a number" },
	{ "dev", device_number,
	  "there is no such block device; say MAJOR:MINOR, a name as sda1, or the path of a node" },
	{ "netns", netns_number,
	  "there is no such network namespace; say its number, its name in /run/netns, or a path" },
	{ "path", path_from_root, "the working directory is not known; say a path that begins with /" },
};

/* The numbers for a list of names. NULL, and *why, if there is none for a name. */
static char *numbers_of(size_t kind, const char *list, char **why)
{
	char *names = xstrdup(list), *rest = names, *all = NULL, *name, *one;

	while ((name = strsep(&rest, ","))) {
		one = named[kind].number(name);
		if (!one) {
			*why = xasprintf("%s=%s: %s", named[kind].key, name, named[kind].why);
			free(all);
			all = NULL;
			break;
		}
		all = text_append(all, ",", one);
		free(one);
	}
	free(names);
	return all;
}

char *filter_numbers(const char *condition, char **why)
{
	struct condition c = split(condition);
	char *numbers, *text;
	size_t i;

	*why = NULL;
	for (i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		if (!c.value || !is_key(&c, named[i].key))
			continue;
		numbers = numbers_of(i, c.value, why);
		text = numbers ? xasprintf("%.*s%s", (int)(c.value - condition), condition, numbers) :
				 NULL;
		free(numbers);
		return text;
	}
	return xstrdup(condition);
}

void filters_add_as(struct filters *f, char *word, char *given)
{
	f->at = xreallocarray(f->at, f->nr + 1, sizeof(*f->at));
	f->at[f->nr++] = (struct filter_word){ word, given };
}

void filters_add(struct filters *f, const char *words)
{
	for (;;) {
		size_t length = strcspn(words, " ");

		filters_add_as(f, xasprintf("%.*s", (int)length, words),
			       xasprintf("--filter=%.*s", (int)length, words));
		if (!words[length])
			return;
		words += length + 1;
	}
}

void filters_free(struct filters *f)
{
	while (f->nr) {
		free(f->at[--f->nr].word);
		free(f->at[f->nr].given);
	}
	free(f->at);
	f->at = NULL;
}

char *filters_of(const struct filters *f, const struct category *category)
{
	char *all = NULL;
	size_t i;

	for (i = 0; i < f->nr; i++) {
		struct condition c = split(f->at[i].word);
		char *one = apply(&c, category);

		if (!one)
			continue;
		all = text_append(all, " ", one);
		free(one);
	}
	return all;
}

/* The operation of these categories whose name is nearest to a word. */
static const char *nearest_operation(const char *word, size_t length,
				     const struct category *const *categories, size_t nr)
{
	struct iot_nearest found = IOT_NEAREST_NONE;
	const struct iot_op *op;
	unsigned int n;
	size_t i;

	for (i = 0; i < nr; i++)
		for (n = 0; (op = iot_names_op(categories[i]->event_id, n)); n++)
			iot_nearest_see(&found, word, length, op->name);
	return found.name;
}

static const char *nearest_key(const struct condition *c)
{
	struct iot_nearest found = IOT_NEAREST_NONE;
	const char *key;
	unsigned int i;

	for (i = 0; (key = iot_names_key(i)); i++)
		iot_nearest_see(&found, c->key, c->key_length, key);
	return found.name;
}

static void check_key(struct argp_state *state, const struct condition *c)
{
	if (!c->value)
		cli_usage(state, "%s: say KEY=VALUE, or CATEGORY:KEY=VALUE", c->given);
	if (*key_of(c))
		return;
	cli_usage(state, "%s: there is no key \"%.*s\"; the nearest is %s", c->given,
		  (int)c->key_length, c->key, nearest_key(c));
}

static void check_category(struct argp_state *state, const struct condition *c,
			   const struct category *const *recorded, size_t nr)
{
	const struct category *category;
	size_t i;

	if (!c->category)
		return;
	category = category_find(c->category, c->category_length);
	if (!category)
		cli_usage(state, "%s: there is no category \"%.*s\" (there are: %s)",
			  c->given, (int)c->category_length, c->category, category_names());
	for (i = 0; i < nr; i++)
		if (recorded[i] == category)
			return;
	cli_usage(state, "%s: %s is not recorded; name it with --categories", c->given,
		  category->name);
}

/* Checks that each operation belongs to one of the categories. */
static void check_operations(struct argp_state *state, const struct condition *c,
			     const struct category *const *categories, size_t nr)
{
	const char *name = c->value;
	size_t length, i;

	for (;; name += length + 1) {
		length = strcspn(name, ",");
		if (!length)
			cli_usage(state, "%s: the name of an operation is missing",
				  c->given);
		for (i = 0; i < nr && !has_operation(categories[i], name, length); i++)
			;
		if (i == nr)
			cli_usage(state, "%s: %s has %s operation \"%.*s\"; the nearest is %s",
				  c->given, nr > 1 ? "no recorded category" : categories[0]->name,
				  nr > 1 ? "an" : "no", (int)length, name,
				  nearest_operation(name, length, categories, nr));
		if (!name[length])
			return;
	}
}

/* Selects the recorded categories that a condition is meant for. */
static size_t select_categories(const struct condition *c, const struct category **selected,
				const struct category *const *recorded, size_t nr)
{
	size_t i, n = 0;

	for (i = 0; i < nr; i++)
		if (is_of(c, recorded[i]))
			selected[n++] = recorded[i];
	return n;
}

/* A condition that applies to no category is an error. One that applies to some is noted. */
static void check_meaning(struct argp_state *state, const struct condition *c,
			  const struct category *const *categories, size_t nr)
{
	size_t i, applies = 0;
	char *text;

	for (i = 0; i < nr; i++) {
		text = apply(c, categories[i]);
		applies += !!text;
		free(text);
	}
	for (i = 0; i < nr; i++) {
		const char *why = why_without(c, categories[i]);

		text = apply(c, categories[i]);
		if (!text && !applies)
			cli_usage(state, "%s: it has no meaning for %s: %s", c->given,
				  categories[i]->name, why);
		if (!text)
			cli_say("%s does not apply to %s, which is recorded without it: %s",
				c->given, categories[i]->name,
				why ? why : "it has no such operation");
		free(text);
	}
}

/* Puts numbers in place of names. */
static void take_numbers(struct argp_state *state, struct filter_word *w)
{
	char *why, *numbers = filter_numbers(w->word, &why);

	if (!numbers)
		cli_usage(state, "%s: %s", w->given, why);
	free(w->word);
	w->word = numbers;
}

void filters_check(struct argp_state *state, struct filters *f,
		   const struct category *const *recorded, size_t nr)
{
	const struct category **selected = xreallocarray(NULL, nr, sizeof(*selected));
	size_t i, n;

	for (i = 0; i < f->nr; i++) {
		struct condition c;

		take_numbers(state, &f->at[i]);
		c = split(f->at[i].word);
		c.given = f->at[i].given;
		check_key(state, &c);
		check_category(state, &c, recorded, nr);
		n = select_categories(&c, selected, recorded, nr);
		if (is_key(&c, "op"))
			check_operations(state, &c, selected, n);
		check_meaning(state, &c, selected, n);
	}
	free(selected);
}
