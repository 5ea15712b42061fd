// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "trace/key_text.h"

char *key_text(const struct key_text *k)
{
	const struct stats_keys *keys = k->table->keys;
	char *label = NULL;
	size_t i;

	if (k->key == KEY_TEXT_OTHERS)
		return xasprintf(k->folded == 1 ? "1 other" : "%u others", k->folded);
	for (i = 0; i < keys->nr; i++) {
		const char *text = key_table_text(k->table, k->key, i);

		label = text_append(label, " ", *text ? text : "(none)");
		if (k->command && stats_key_is_process(&keys->at[i]))
			label = text_append(label, " ", k->command);
	}
	return label;
}

void key_text_put_line(const char *label)
{
	char *shown = text_shorten(label, KEY_TEXT_WIDTH);

	puts(shown);
	free(shown);
}

void key_text_put_first(const char *label)
{
	size_t width = text_width(label);

	if (width < KEY_TEXT_FIRST) {
		printf("%s%*s", label, (int)(KEY_TEXT_FIRST - width), "");
		return;
	}
	key_text_put_line(label);
	printf("%*s", KEY_TEXT_FIRST, "");
}

char *key_text_heading(const struct stats_keys *keys)
{
	char *name = NULL;
	size_t i;

	for (i = 0; i < keys->nr; i++) {
		char *upper = xstrdup(stats_key_name(&keys->at[i])), *at;

		for (at = upper; *at; at++)
			*at -= 'a' - 'A';
		name = text_append(name, " ", upper);
		free(upper);
	}
	return name;
}

void key_text_json(json_t *object, const struct key_text *k)
{
	bool others = k->key == KEY_TEXT_OTHERS;
	const struct stats_keys *keys = k->table->keys;
	size_t i;

	for (i = 0; i < keys->nr; i++)
		json_put(object, stats_key_name(&keys->at[i]),
			 others ? json_null() : json_string(key_table_text(k->table, k->key, i)));
	if (k->command)
		json_put(object, "command", others ? json_null() : json_string(k->command));
	json_put(object, "others", json_integer(k->folded));
}

void key_text_csv_header(const struct stats_keys *keys)
{
	size_t i;

	for (i = 0; i < keys->nr; i++)
		printf("%s,", stats_key_name(&keys->at[i]));
	if (stats_keys_have_command(keys))
		fputs("command,", stdout);
	fputs("others,", stdout);
}

static void put_text(const char *text)
{
	size_t length = strlen(text);
	char *field = xreallocarray(NULL, 4 * length + 2, 1);

	printf("%.*s,", (int)(csv_put(field, text, length) - field), field);
	free(field);
}

void key_text_csv(const struct key_text *k)
{
	bool others = k->key == KEY_TEXT_OTHERS;
	size_t i;

	for (i = 0; i < k->table->keys->nr; i++)
		put_text(others ? "" : key_table_text(k->table, k->key, i));
	if (k->command)
		put_text(others ? "" : k->command);
	printf("%u,", k->folded);
}
